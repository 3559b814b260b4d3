"use client";
import { useState } from "react";
import { useLatchkey } from "@latchkey/client/react";
import { Card, Form, useChange } from "./form";
import type { CardProps } from "./settings";
import { useWords } from "./words";

/** Change of the password, or the first one of an account without. */
export function Password({ account: { hasPassword }, reload }: CardProps) {
  const { auth } = useLatchkey();
  const { t } = useWords();
  const { change, error } = useChange();
  const [isOpen, setIsOpen] = useState(false);
  const current = { name: "currentPassword", label: t("Current password"), type: "password", autoComplete: "current-password" };
  const next = { name: "newPassword", label: t("New password"), type: "password", autoComplete: "new-password" };
  const save = async ({ currentPassword = "", newPassword = "" }) => {
    const data = await change(hasPassword ? auth.changePassword({ currentPassword, newPassword }) : auth.setPassword({ newPassword }));
    if (!data) return;
    setIsOpen(false);
    await reload(hasPassword ? t("Your password is changed.") : t("Your password is set."));
  };
  return (
    <Card title={t("Password")} name="password" error={error}>
      <p className="hint">{hasPassword ? t("A change ends your other sessions.") : t("You sign in without a password. You can set one.")}</p>
      {isOpen
        ? <Form fields={hasPassword ? [current, next] : [next]} action={t("Save")} submit={save} cancel={() => setIsOpen(false)} />
        : <p className="actions"><button onClick={() => setIsOpen(true)}>{hasPassword ? t("Change password") : t("Set a password")}</button></p>}
    </Card>
  );
}
