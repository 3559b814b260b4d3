"use client";
import { useEffect, useState } from "react";
import type { BegunTotp, Challenge } from "@latchkey/client";
import { useLatchkey } from "@latchkey/client/react";
import { encode } from "uqr";
import { Alert, Form, useChange } from "./form";
import { useWords } from "./words";

interface Props {
  /** Challenge of a sign-in that requires a second factor. Without it the session enrols. */
  challenge?: Challenge;
  showCodes: (codes: string[]) => void;
  done: () => void;
}

/** Enrolment of an authenticator app; at a sign-in that requires a second factor, of a passkey instead if the user likes. */
export function Enrolment({ challenge, showCodes, done }: Props) {
  const { auth } = useLatchkey();
  const { t } = useWords();
  const { change, error } = useChange();
  const [begun, setBegun] = useState<BegunTotp | null>(null);
  const because = challenge && { challenge };
  useEffect(() => {
    let isWanted = true;
    void change(auth.totp.begin({ name: t("Authenticator app"), ...because })).then((data) => isWanted && setBegun(data));
    return () => void (isWanted = false);
  }, [auth, challenge?.id]);
  const finish = (data: { recoveryCodes?: string[] } | null) => {
    if (data?.recoveryCodes) showCodes(data.recoveryCodes);
    if (data) done();
  };
  const confirm = async ({ code = "" }) =>
    finish(await change(auth.totp.confirm({ factorId: begun?.factorId ?? "", code: code.trim(), ...because })));
  const usePasskey = async () => finish(await change(auth.passkeys.register({ ...because })));
  return (
    <section className="card">
      <h1>{t("Scan this code")}</h1>
      <p className="lead">{t("Open an authenticator app, scan the code, and type the six digits that it shows.")}</p>
      {begun && <Qr uri={begun.uri} />}
      {begun && <p className="hint">{t("Or type this secret:")} <code data-secret>{begun.secret}</code></p>}
      <Alert error={error} />
      <Form fields={[{ name: "code", label: t("Code of your app"), inputMode: "numeric", autoComplete: "one-time-code" }]} action={t("Confirm")} submit={confirm} cancel={done}>
        {challenge && auth.passkeys.isSupported() && <button type="button" onClick={() => void usePasskey()}>{t("Use a passkey instead")}</button>}
      </Form>
    </section>
  );
}

/** QR code, drawn in the page: no other server sees the secret. */
function Qr({ uri }: { uri: string }) {
  const { t } = useWords();
  const { data, size } = encode(uri, { border: 4 });
  const path = data.flatMap((line, y) => line.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ""))).join("");
  return (
    <div className="qr" data-qr>
      <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label={t("QR code")}><path d={path} /></svg>
    </div>
  );
}

/** Recovery codes, shown this once. */
export function RecoveryCodes({ codes, done }: { codes: string[]; done: () => void }) {
  const { t } = useWords();
  return (
    <section className="card">
      <h1>{t("Your recovery codes")}</h1>
      <p className="lead">{t("Each signs you in once without your app. Keep them in a safe place: they are not shown again.")}</p>
      <ul className="codes">{codes.map((code) => <li key={code}><code>{code}</code></li>)}</ul>
      <p className="actions">
        <button className="primary" onClick={done}>{t("I have stored them")}</button>
        <button onClick={() => void navigator.clipboard.writeText(codes.join("\n"))}>{t("Copy")}</button>
      </p>
    </section>
  );
}
