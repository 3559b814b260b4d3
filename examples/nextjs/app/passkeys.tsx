"use client";
import { type FormEvent, useEffect, useState } from "react";
import type { Passkey, Result } from "@latchkey/client";
import { useLatchkey } from "@latchkey/client/react";

interface Props {
  /** Shows the error of a change, or asks the user to confirm it. */
  change: <Data extends object>(work: Promise<Result<Data>>) => Promise<Data | null>;
}

/** Passkeys of the user: add, rename, remove. */
export function Passkeys({ change }: Props) {
  const { auth } = useLatchkey();
  const [passkeys, setPasskeys] = useState<Passkey[]>([]);
  const load = async () => setPasskeys((await auth.passkeys.list()).data?.passkeys ?? []);
  useEffect(() => void load(), [auth]);
  const run = async (work: Promise<Result<object>>) => {
    await change(work);
    await load();
  };
  const rename = (event: FormEvent<HTMLFormElement>, id: string) => {
    event.preventDefault();
    void run(auth.passkeys.rename(id, String(new FormData(event.currentTarget).get("passkey")).trim()));
  };
  return (
    <>
      <h2>Passkeys</h2>
      <ul>
        {passkeys.map(({ id, name, lastUsedAt }) => (
          <li key={id}>
            <form onSubmit={(event) => rename(event, id)}>
              <input name="passkey" aria-label="Passkey" defaultValue={name} maxLength={64} required />
              <button>Rename</button>
              <button type="button" onClick={() => void run(auth.passkeys.remove(id))}>Remove</button>
            </form>
            <small>{lastUsedAt ? `last used ${new Date(lastUsedAt).toLocaleString()}` : "not used yet"}</small>
          </li>
        ))}
      </ul>
      {auth.passkeys.isSupported() && <button onClick={() => void run(auth.passkeys.register())}>Add a passkey</button>}
    </>
  );
}
