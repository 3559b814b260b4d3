"use client";
import { useState } from "react";
import type { BegunEmailChange } from "@latchkey/client";
import { useLatchkey } from "@latchkey/client/react";
import { Card, Form, useChange } from "./form";
import type { CardProps } from "./settings";
import { useWords } from "./words";

/** The email address and its change, by the codes of both mailboxes. */
export function Address({ account, reload }: CardProps) {
  const { auth } = useLatchkey();
  const { t } = useWords();
  const { change, error } = useChange();
  const { email, emailVerified } = account.user;
  const [isOpen, setIsOpen] = useState(false);
  /** Change that was begun here. The account does not show its id. */
  const [begun, setBegun] = useState<(BegunEmailChange & { newEmail: string }) | null>(null);
  const { emailChange } = account;

  const begin = async ({ newEmail = "" }) => {
    const data = await change(auth.changeEmail({ newEmail }));
    if (data) setBegun({ ...data, newEmail });
  };
  const confirm = async ({ new: newCode, current: currentCode }: Record<string, string>) => {
    if (!begun) return;
    const codes = { ...(newCode && { newCode: newCode.trim() }), ...(currentCode && { currentCode: currentCode.trim() }) };
    const data = await change(auth.confirmEmailChange({ changeId: begun.changeId, ...codes }));
    if (data?.user) {
      close();
      return reload(t("Your address is changed."));
    }
    // A right code counts beside a wrong one.
    const { proven = [] } = (await auth.getAccount()).data?.emailChange ?? {};
    setBegun({ ...begun, needs: begun.needs.filter((side) => !proven.includes(side)) });
  };
  const close = () => {
    setBegun(null);
    setIsOpen(false);
  };
  const cancel = async () => {
    await change(auth.cancelEmailChange());
    close();
    await reload();
  };

  return (
    <Card title={t("Email address")} name="address" error={error}>
      <ul className="list">
        <li>{email} <span className={emailVerified ? "badge" : "badge open"}>{emailVerified ? t("confirmed") : t("not confirmed")}</span></li>
        {emailChange && !begun && <li>{t("A change to {email} was begun elsewhere.", { email: emailChange.newEmail })}</li>}
      </ul>
      {begun && (
        <Form
          fields={begun.needs.map((side) => ({ name: side, label: t("Code from the mail to {email}", { email: side === "new" ? begun.newEmail : email }), autoComplete: "one-time-code" }))}
          action={t("Confirm")}
          submit={confirm}
          cancel={() => void cancel()}
        />
      )}
      {!begun && isOpen && <Form fields={[{ name: "newEmail", label: t("New address"), type: "email", autoComplete: "email" }]} action={t("Send codes")} submit={begin} cancel={close} />}
      {!begun && !isOpen && (
        <p className="actions">
          <button onClick={() => setIsOpen(true)}>{t("Change address")}</button>
          {emailChange && <button onClick={() => void cancel()}>{t("Cancel the change")}</button>}
        </p>
      )}
    </Card>
  );
}
