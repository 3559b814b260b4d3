"use client";
import { useState } from "react";
import type { User } from "@latchkey/client";
import { useLatchkey } from "@latchkey/client/react";
import { Alert, Form, useChange } from "./form";
import { Settings } from "./settings";
import { useWords } from "./words";

interface Props {
  user: User;
  showCodes: (codes: string[]) => void;
  showNotice: (notice: string) => void;
}

/** Page of the user: the name, and the way to the settings. */
export function Account({ user, showCodes, showNotice }: Props) {
  const { auth, profiles } = useLatchkey();
  const { t } = useWords();
  const { change, error } = useChange();
  const [isSettings, setIsSettings] = useState(false);
  const name = user.profile.name || user.email;
  if (isSettings) return <Settings leave={() => setIsSettings(false)} showCodes={showCodes} showNotice={showNotice} />;
  return (
    <section className="card">
      <h1>{t("Hello {name}", { name })}</h1>
      <p className="lead">{user.email}</p>
      <Alert error={error} />
      <Form fields={[{ name: "name", label: t("Name"), defaultValue: name, autoFocus: false, maxLength: 100 }]} action={t("Save")} submit={({ name }) => change(profiles.update({ name }))}>
        <button type="button" onClick={() => setIsSettings(true)}>{t("Settings")}</button>
        <button type="button" onClick={() => void auth.signOut()}>{t("Sign out")}</button>
      </Form>
    </section>
  );
}
