"use client";
import { type FormEvent, useEffect, useRef, useState } from "react";
import type { LatchkeyError, PasskeySignInInput } from "@latchkey/client";
import { useLatchkey } from "@latchkey/client/react";
import { Alert, fieldsOf, Form } from "./form";
import { useWords } from "./words";

/** Sign-in by password, passkey or mailed code, and sign-up. */
export function SignIn() {
  const { auth } = useLatchkey();
  const { t } = useWords();
  const email = useRef<HTMLInputElement>(null);
  /** Address to which a code was mailed, at sign-up or for a sign-in. */
  const [mailed, setMailed] = useState<{ email: string; isSignUp: boolean }>();
  const [error, setError] = useState<LatchkeyError | null>(null);
  // Known in the browser alone.
  const [hasPasskeys, setHasPasskeys] = useState(false);
  const signIn = async (input?: PasskeySignInInput) => {
    const { error } = await auth.signInWithPasskey(input);
    // The user chose none, or this browser has no autofill of passkeys.
    if (!error?.error.startsWith("PASSKEY")) setError(error);
  };
  useEffect(() => {
    const form = new AbortController();
    setHasPasskeys(auth.passkeys.isSupported());
    void signIn({ autofill: true, signal: form.signal });
    return () => form.abort();
  }, [auth]);

  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { email = "", password = "" } = fieldsOf(event.currentTarget);
    const { submitter } = event.nativeEvent as SubmitEvent;
    if ((submitter as HTMLButtonElement).value === "sign-in") return setError((await auth.signInWithPassword({ email, password })).error);
    const result = await auth.signUp({ email, password });
    setError(result.error);
    if (result.data?.requireEmailVerification) setMailed({ email, isSignUp: true });
  };
  const mail = async () => {
    if (!email.current?.reportValidity()) return;
    const { value } = email.current;
    const { error } = await auth.signInWithOtp({ email: value, redirectTo: `${location.origin}/` });
    setError(error);
    if (!error) setMailed({ email: value, isSignUp: false });
  };
  const verify = async ({ code = "" }) => {
    const given = { email: mailed?.email ?? "", otp: code.trim() };
    setError((await (mailed?.isSignUp ? auth.verifyEmail(given) : auth.verifyOtp(given))).error);
  };

  if (mailed) {
    return (
      <section className="card">
        <h1>{t("Check your mail")}</h1>
        <p className="lead">{t("Six digits are on their way to:")} <strong>{mailed.email}</strong></p>
        <Alert error={error} />
        <Form key="code" fields={[{ name: "code", label: t("Code from your mail"), autoComplete: "one-time-code" }]} action={t("Verify")} submit={verify} cancel={() => setMailed(undefined)} />
      </section>
    );
  }
  return (
    <section className="card">
      <h1>{t("Welcome")}</h1>
      <p className="lead">{t("Sign in to your account.")}</p>
      <form onSubmit={onSubmit}>
        <label>{t("Email")} <input ref={email} name="email" type="email" autoComplete="username webauthn" required /></label>
        <label>{t("Password")} <input name="password" type="password" autoComplete="current-password" required /></label>
        <Alert error={error} />
        <button className="primary" value="sign-in">{t("Sign in")}</button>
        <button value="sign-up">{t("Create an account")}</button>
      </form>
      <div className="providers">
        {hasPasskeys && <button onClick={() => void signIn()}>{t("Sign in with a passkey")}</button>}
        <button onClick={() => void mail()}>{t("Mail me a code")}</button>
      </div>
    </section>
  );
}
