"use client";
import { type FormEvent, type InputHTMLAttributes, type ReactNode, useState } from "react";
import type { LatchkeyError, Result } from "@latchkey/client";
import { useLatchkey } from "@latchkey/client/react";
import { useWords } from "./words";

/** Error of a call. What the user decided is none. */
export function Alert({ error }: { error: LatchkeyError | null }) {
  const { problem } = useWords();
  if (!error || error.error === "PASSKEY_CANCELLED") return null;
  return <p role="alert">{problem(error)}</p>;
}

/** Card with a heading, and the error of its last change. */
export function Card({ title, name, error = null, children }: { title: ReactNode; name?: string; error?: LatchkeyError | null; children: ReactNode }) {
  return (
    <section className="card" data-card={name}>
      <h2>{title}</h2>
      <Alert error={error} />
      {children}
    </section>
  );
}

interface Field extends InputHTMLAttributes<HTMLInputElement> {
  name: string;
  label: string;
}

interface FormProps {
  fields: Field[];
  action: string;
  submit: (fields: Record<string, string>) => Promise<unknown>;
  /** Leaves the form. */
  cancel?: () => void;
  children?: ReactNode;
}

/** Form of labelled fields. */
export function Form({ fields, action, submit, cancel, children }: FormProps) {
  const { t } = useWords();
  const [isPending, setIsPending] = useState(false);
  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setIsPending(true);
    await submit(fieldsOf(event.currentTarget));
    setIsPending(false);
  };
  return (
    <form onSubmit={onSubmit}>
      {fields.map(({ label, ...input }, index) => (
        <label key={input.name}>{label} <input required autoFocus={index === 0} {...input} /></label>
      ))}
      <p className="actions">
        <button className="primary" disabled={isPending}>{action}</button>
        {cancel && <button type="button" onClick={cancel}>{t("Cancel")}</button>}
        {children}
      </p>
    </form>
  );
}

/** Fields of a form as texts. */
export const fieldsOf = (form: HTMLFormElement) => Object.fromEntries(new FormData(form)) as Record<string, string>;

/**
 * Changes with the error of the last one; `after` runs after each. If the session is too old, the user confirms (challenge.tsx
 * shows the question) and repeats the change.
 */
export function useChange(after: () => unknown = () => undefined) {
  const { auth } = useLatchkey();
  const [error, setError] = useState<LatchkeyError | null>(null);
  const change = async <Data,>(work: Promise<Result<Data>>): Promise<Data | null> => {
    const { data, error } = await work;
    setError(error);
    if (error?.error === "REAUTHENTICATION_REQUIRED") await auth.reauthenticate();
    else if (!error) await after();
    return data;
  };
  return { change, error, setError };
}
