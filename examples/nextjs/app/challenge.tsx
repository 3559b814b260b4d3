"use client";
import { type FormEvent, useState } from "react";
import type { ChallengeKind } from "@latchkey/client";
import { useChallenge } from "@latchkey/client/react";

/** Label of each kind of answer that is typed. */
const KINDS: { [Kind in ChallengeKind]?: string } = {
  totp: "Code of your app",
  recovery_code: "Recovery code",
  password: "Your password",
  email_code: "Code from your mail",
};

/** Question for a second factor at sign-in, or for a fresh confirmation before a change. */
export function Challenge() {
  const { challenge, answer, answerWithPasskey, sendCode, dismiss } = useChallenge();
  const [chosen, setChosen] = useState<ChallengeKind>();
  const kinds = challenge?.kinds.filter((kind) => KINDS[kind]) ?? [];
  const kind = chosen && kinds.includes(chosen) ? chosen : kinds[0];
  const hasPasskey = challenge?.kinds.includes("passkey");
  if (!challenge || !(kind || hasPasskey)) return null;
  const { error } = answerWithPasskey.error ? answerWithPasskey : answer;
  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!kind) return;
    const typed = String(new FormData(event.currentTarget).get("answer")).trim();
    const { error } = await answer.run({ challenge, kind, ...(kind === "password" ? { password: typed } : { code: typed }) });
    if (error?.error === "INVALID_CHALLENGE") dismiss(); // start over
  };
  const choose = (other: ChallengeKind) => {
    setChosen(other);
    if (other === "email_code") void sendCode.run(challenge);
  };
  return (
    <form onSubmit={onSubmit}>
      <h1>One more step</h1>
      {error && <p role="alert">{`${error.message} ${error.nextActions ?? ""}`}</p>}
      {hasPasskey && <button type="button" onClick={() => void answerWithPasskey.run(challenge)}>Use your passkey</button>}
      {kind && (
        <>
          <label>{KINDS[kind]} <input key={kind} name="answer" type={kind === "password" ? "password" : "text"} autoComplete="off" required /></label>
          <button>Continue</button>
        </>
      )}
      {kinds.filter((other) => other !== kind).map((other) => (
        <button key={other} type="button" onClick={() => choose(other)}>{KINDS[other]} instead</button>
      ))}
      <button type="button" onClick={dismiss}>Cancel</button>
    </form>
  );
}
