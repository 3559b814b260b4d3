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
  const { challenge, answer, sendCode, dismiss } = useChallenge();
  const [chosen, setChosen] = useState<ChallengeKind>();
  const kinds = challenge?.kinds.filter((kind) => KINDS[kind]) ?? [];
  const kind = chosen && kinds.includes(chosen) ? chosen : kinds[0];
  if (!challenge || !kind) return null;
  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
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
      {answer.error && <p role="alert">{`${answer.error.message} ${answer.error.nextActions ?? ""}`}</p>}
      <label>{KINDS[kind]} <input key={kind} name="answer" type={kind === "password" ? "password" : "text"} autoComplete="off" required /></label>
      <button>Continue</button>
      {kinds.filter((other) => other !== kind).map((other) => (
        <button key={other} type="button" onClick={() => choose(other)}>{KINDS[other]} instead</button>
      ))}
      <button type="button" onClick={dismiss}>Cancel</button>
    </form>
  );
}
