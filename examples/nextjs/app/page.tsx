"use client";
import { type FormEvent, useEffect, useState } from "react";
import type { LatchkeyError, PasskeySignInInput } from "@latchkey/client";
import { useChallenge, useLatchkey, useUser } from "@latchkey/client/react";
import { Challenge } from "./challenge";
import { Security } from "./security";

export default function Page() {
  const { user, isLoading } = useUser();
  const { challenge } = useChallenge();
  if (isLoading) return <p>Loading</p>;
  return (
    <>
      <Challenge />
      {user ? <Account name={user.profile.name || user.email} /> : !challenge && <SignIn />}
    </>
  );
}

/** Form with the name of its action as submit button. */
function useForm(run: (fields: Record<string, string>, what: string) => Promise<{ error: LatchkeyError | null }>) {
  const [error, setError] = useState<LatchkeyError | null>(null);
  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    const fields = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>;
    setError((await run(fields, (submitter as HTMLButtonElement).value)).error);
  };
  return { onSubmit, setError, complaint: error && <p role="alert">{`${error.message} ${error.nextActions ?? ""}`}</p> };
}

function SignIn() {
  const { auth } = useLatchkey();
  // Address whose code was mailed at sign-up.
  const [mailed, setMailed] = useState("");
  // Known in the browser alone.
  const [hasPasskeys, setHasPasskeys] = useState(false);
  const { onSubmit, setError, complaint } = useForm(async ({ email = "", password = "", code = "" }, what) => {
    if (what === "verify") return auth.verifyEmail({ email: mailed, otp: code.trim() });
    if (what === "sign-in") return auth.signInWithPassword({ email, password });
    const result = await auth.signUp({ email, password });
    if (result.data?.requireEmailVerification) setMailed(email);
    return result;
  });
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
  if (mailed) {
    return (
      <form key="verify" onSubmit={onSubmit}>
        <h1>Check your mail</h1>
        {complaint}
        <label>Code from your mail <input name="code" autoComplete="one-time-code" required /></label>
        <button value="verify">Verify</button>
      </form>
    );
  }
  return (
    <form onSubmit={onSubmit}>
      <h1>Welcome</h1>
      {complaint}
      <label>Email <input name="email" type="email" autoComplete="username webauthn" required /></label>
      <label>Password <input name="password" type="password" autoComplete="current-password" required /></label>
      <button value="sign-in">Sign in</button>
      {hasPasskeys && <button type="button" onClick={() => void signIn()}>Sign in with a passkey</button>}
      <button value="sign-up">Create an account</button>
    </form>
  );
}

function Account({ name }: { name: string }) {
  const { auth, profiles } = useLatchkey();
  const [isSecurity, setIsSecurity] = useState(false);
  const { onSubmit, complaint } = useForm((fields) => profiles.update({ name: fields.name }));
  return (
    <>
      <h1>Hello {name}</h1>
      <form onSubmit={onSubmit}>
        {complaint}
        <label>Name <input name="name" defaultValue={name} required /></label>
        <button>Save</button>
      </form>
      {isSecurity ? <Security /> : <button onClick={() => setIsSecurity(true)}>Security</button>}
      <button onClick={() => void auth.signOut()}>Sign out</button>
    </>
  );
}
