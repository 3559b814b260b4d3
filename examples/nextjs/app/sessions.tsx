"use client";
import { type FormEvent, useEffect, useState } from "react";
import type { OwnSession } from "@latchkey/client";
import { useLatchkey } from "@latchkey/client/react";
import { Card, fieldsOf, useChange } from "./form";
import { useWords } from "./words";

/** Sessions of the user, with device and name. */
export function Sessions({ turn }: { turn: number }) {
  const { auth } = useLatchkey();
  const { t, when } = useWords();
  const [sessions, setSessions] = useState<OwnSession[]>([]);
  /** Session that is being named. */
  const [named, setNamed] = useState("");
  const load = async () => setSessions((await auth.listSessions()).data?.sessions ?? []);
  const { change, error } = useChange(load);
  useEffect(() => void load(), [auth, turn]);
  const rename = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = fieldsOf(event.currentTarget).name?.trim() || null;
    if (await change(auth.renameSession(named, name))) setNamed("");
  };
  return (
    <Card title={t("Your sessions")} name="sessions" error={error}>
      <ul className="list">
        {sessions.map(({ id, name, device, ip, lastSeenAt, current }) => (
          <li key={id}>
            {id === named ? (
              <form className="inline" onSubmit={rename}>
                <input name="name" aria-label={t("Name of the session")} defaultValue={name ?? ""} maxLength={64} autoFocus />
                <button className="primary">{t("Save")}</button>
              </form>
            ) : (
              <>
                <span>{name ?? device}<br /><small>{[name && device, ip, when(lastSeenAt)].filter(Boolean).join(" · ")}</small></span>
                {current && <span className="badge">{t("this one")}</span>}
                <span className="actions">
                  <button onClick={() => setNamed(id)}>{t("Change name")}</button>
                  {!current && <button onClick={() => void change(auth.endSession(id))}>{t("End")}</button>}
                </span>
              </>
            )}
          </li>
        ))}
      </ul>
      {sessions.length > 1 && <p className="actions"><button onClick={() => void change(auth.endOtherSessions())}>{t("End all others")}</button></p>}
    </Card>
  );
}
