"use client";
import { type FormEvent, useState } from "react";
import type { LatchkeyError } from "@latchkey/client";
import { useLatchkey, useUser } from "@latchkey/client/react";

export default function Page() {
  const { user, isLoading } = useUser();
  if (isLoading) return <p>Loading</p>;
  return user ? <Account name={user.profile.name || user.email} /> : <SignIn />;
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
  return { onSubmit, complaint: error && <p role="alert">{`${error.message} ${error.nextActions ?? ""}`}</p> };
}

function SignIn() {
  const { auth } = useLatchkey();
  const { onSubmit, complaint } = useForm(({ email, password }, what) =>
    what === "sign-up" ? auth.signUp({ email, password }) : auth.signInWithPassword({ email, password }),
  );
  return (
    <form onSubmit={onSubmit}>
      <h1>Welcome</h1>
      {complaint}
      <label>Email <input name="email" type="email" autoComplete="username" required /></label>
      <label>Password <input name="password" type="password" autoComplete="current-password" required /></label>
      <button value="sign-in">Sign in</button>
      <button value="sign-up">Create an account</button>
    </form>
  );
}

function Account({ name }: { name: string }) {
  const { auth, profiles } = useLatchkey();
  const { onSubmit, complaint } = useForm((fields) => profiles.update({ name: fields.name }));
  return (
    <>
      <h1>Hello {name}</h1>
      <form onSubmit={onSubmit}>
        {complaint}
        <label>Name <input name="name" defaultValue={name} required /></label>
        <button>Save</button>
      </form>
      <button onClick={() => void auth.signOut()}>Sign out</button>
    </>
  );
}
