"use client";
import { type FormEvent, useEffect, useState } from "react";
import type { Passkey } from "@latchkey/client";
import { useLatchkey } from "@latchkey/client/react";
import { Card, fieldsOf, useChange } from "./form";
import type { CardProps } from "./settings";
import { useWords } from "./words";

/** Passkeys of the user: add, rename, remove. */
export function Passkeys({ reload }: CardProps) {
  const { auth } = useLatchkey();
  const { t, when } = useWords();
  const [passkeys, setPasskeys] = useState<Passkey[]>([]);
  const load = async () => setPasskeys((await auth.passkeys.list()).data?.passkeys ?? []);
  const { change, error } = useChange(() => Promise.all([load(), reload()]));
  useEffect(() => void load(), [auth]);
  const rename = (event: FormEvent<HTMLFormElement>, id: string) => {
    event.preventDefault();
    void change(auth.passkeys.rename(id, (fieldsOf(event.currentTarget).passkey ?? "").trim()));
  };
  return (
    <Card title={t("Passkeys")} name="passkeys" error={error}>
      <p className="hint">{t("Sign in with your fingerprint, your face or the PIN of your device.")}</p>
      <ul className="list">
        {passkeys.map(({ id, name, lastUsedAt }) => (
          <li key={id}>
            <form className="inline" onSubmit={(event) => rename(event, id)}>
              <input name="passkey" aria-label={t("Passkey")} defaultValue={name} maxLength={64} required />
              <button>{t("Rename")}</button>
              <button type="button" onClick={() => void change(auth.passkeys.remove(id))}>{t("Remove")}</button>
            </form>
            <small>{lastUsedAt ? t("last used {when}", { when: when(lastUsedAt) }) : t("not used yet")}</small>
          </li>
        ))}
      </ul>
      {auth.passkeys.isSupported() && <p className="actions"><button onClick={() => void change(auth.passkeys.register())}>{t("Add a passkey")}</button></p>}
    </Card>
  );
}
