"use client";
import { useState } from "react";
import type { ChallengeKind } from "@latchkey/client";
import { useChallenge } from "@latchkey/client/react";
import { Enrolment } from "./enrolment";
import { Alert, Form } from "./form";
import { useWords } from "./words";

/** Label of each kind of answer that is typed. */
const KINDS: { [Kind in ChallengeKind]?: string } = {
  totp: "Code of your app",
  recovery_code: "Recovery code",
  password: "Your password",
  email_code: "Code from your mail",
};

/** Question for a second factor at sign-in, or for a fresh confirmation before a change; enrolment and restoral too. */
export function Challenge({ showCodes }: { showCodes: (codes: string[]) => void }) {
  const { t } = useWords();
  const { challenge, answer, answerWithPasskey, sendCode, dismiss } = useChallenge();
  const [chosen, setChosen] = useState<ChallengeKind>();
  if (!challenge) return null;
  const { kinds } = challenge;
  // The service requires a second factor, and this account has none yet.
  if (kinds.includes("enroll")) return <Enrolment challenge={challenge} showCodes={showCodes} done={dismiss} />;
  if (kinds.includes("restore")) {
    return (
      <section className="card">
        <h1>{t("Your account is being deleted")}</h1>
        <p className="lead">{t("You can still have it back, with everything in it.")}</p>
        <Alert error={answer.error} />
        <Form fields={[]} action={t("Restore my account")} submit={() => answer.run({ challenge, kind: "restore" })} cancel={dismiss} />
      </section>
    );
  }
  const typed = kinds.filter((kind) => KINDS[kind]);
  const kind = chosen && typed.includes(chosen) ? chosen : typed[0];
  const hasPasskey = kinds.includes("passkey");
  const submit = async ({ answer: given = "" }) => {
    if (!kind) return;
    const { error } = await answer.run({ challenge, kind, ...(kind === "password" ? { password: given } : { code: given.trim() }) });
    if (error?.error === "INVALID_CHALLENGE") dismiss(); // start over
  };
  const choose = (other: ChallengeKind) => {
    setChosen(other);
    if (other === "email_code") void sendCode.run(challenge);
  };
  // Mailed as soon as it is asked for: there may be no other kind to come from.
  const isMail = kind === "email_code" && !sendCode.result && !sendCode.isPending;
  return (
    <section className="card">
      <h1>{t("One more step")}</h1>
      <p className="lead">{kind || hasPasskey ? t("Show that it is you.") : t("Sign in again to go on.")}</p>
      <Alert error={answerWithPasskey.error ?? answer.error} />
      {hasPasskey && <p className="actions"><button className="primary" onClick={() => void answerWithPasskey.run(challenge)}>{t("Use your passkey")}</button></p>}
      {kind && (
        <Form key={kind} action={t("Continue")} submit={submit} fields={[{ name: "answer", label: t(KINDS[kind] ?? ""), type: kind === "password" ? "password" : "text", autoComplete: "off" }]} />
      )}
      <p className="actions">
        {isMail && <button onClick={() => void sendCode.run(challenge)}>{t("Mail me a code")}</button>}
        {typed.filter((other) => other !== kind).map((other) => (
          <button key={other} onClick={() => choose(other)}>{t("{kind} instead", { kind: t(KINDS[other] ?? "") })}</button>
        ))}
        <button onClick={dismiss}>{t("Cancel")}</button>
      </p>
    </section>
  );
}
