"use client";
import { type FormEvent, useEffect, useState } from "react";
import type { Account, BegunTotp, LatchkeyError, OwnSession, Result } from "@latchkey/client";
import { useLatchkey } from "@latchkey/client/react";
import { encode } from "uqr";
import { Passkeys } from "./passkeys";

/** Two-step sign-in, passkeys and sessions of the user. */
export function Security() {
  const { auth } = useLatchkey();
  const [account, setAccount] = useState<Account | null>(null);
  const [sessions, setSessions] = useState<OwnSession[]>([]);
  const [begun, setBegun] = useState<BegunTotp | null>(null);
  // Only here: after a reload they are gone.
  const [codes, setCodes] = useState<string[]>([]);
  const [error, setError] = useState<LatchkeyError | null>(null);
  const load = async () => {
    setAccount((await auth.getAccount()).data);
    setSessions((await auth.listSessions()).data?.sessions ?? []);
  };
  useEffect(() => void load(), [auth]);

  /** Result of a change. If the session is too old, the user confirms (challenge.tsx shows the question) and repeats it. */
  const done = async <Data extends object>(change: Promise<Result<Data>>): Promise<Data | null> => {
    const result = await change;
    setError(result.error?.error === "PASSKEY_CANCELLED" ? null : result.error);
    if (result.error?.error === "REAUTHENTICATION_REQUIRED") await auth.reauthenticate();
    if (result.data && "recoveryCodes" in result.data) setCodes(result.data.recoveryCodes as string[]);
    await load();
    return result.data;
  };
  const confirm = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const code = String(new FormData(event.currentTarget).get("code")).trim();
    if (await done(auth.totp.confirm({ factorId: begun?.factorId ?? "", code }))) setBegun(null);
  };

  if (!account) return <p>Loading</p>;
  return (
    <section>
      <h2>Two-step sign-in is {account.twoStep ? "on" : "off"}</h2>
      {error && <p role="alert">{`${error.message} ${error.nextActions ?? ""}`}</p>}
      {account.totp.map((factor) => <p key={factor.id}>{factor.name}</p>)}
      {account.twoStep && <p>{account.recoveryCodesLeft} recovery codes are left.</p>}
      {codes.length > 0 && (
        <>
          <h3>Your recovery codes</h3>
          <p>Each signs you in once without your app. They are not shown again.</p>
          <ul>{codes.map((code) => <li key={code}><code>{code}</code></li>)}</ul>
          <button onClick={() => setCodes([])}>I have stored them</button>
        </>
      )}
      {!begun && (
        <button onClick={async () => setBegun(await done(auth.totp.begin({ name: "Authenticator app" })))}>Add an authenticator app</button>
      )}
      {begun && (
        <form onSubmit={confirm}>
          <Qr uri={begun.uri} />
          <p>Or type this secret: <code data-secret>{begun.secret}</code></p>
          <label>Code of your app <input name="code" inputMode="numeric" autoComplete="one-time-code" required /></label>
          <button>Confirm</button>
        </form>
      )}
      {!account.twoStep && account.passkeyCount > 0 && (
        <button onClick={() => void done(auth.setTwoStep(true))}>Turn on with your passkey</button>
      )}
      {account.twoStep && <button onClick={() => void done(auth.replaceRecoveryCodes())}>New recovery codes</button>}
      {account.twoStep && <button onClick={() => void done(auth.setTwoStep(false))}>Turn off</button>}
      <Passkeys change={done} />
      <h2>Your sessions</h2>
      <ul>
        {sessions.map((one) => (
          <li key={one.id}>
            {one.ip}, {new Date(one.lastSeenAt).toLocaleString()} {one.current ? "this one" : <button onClick={() => void done(auth.endSession(one.id))}>End</button>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** QR code, drawn in the page: no other server sees the secret. */
function Qr({ uri }: { uri: string }) {
  const { data, size } = encode(uri, { border: 4 });
  const path = data.flatMap((line, y) => line.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ""))).join("");
  return (
    <svg viewBox={`0 0 ${size} ${size}`} width="224" role="img" aria-label="QR code" style={{ background: "#fff", fill: "#000" }}>
      <path d={path} />
    </svg>
  );
}
