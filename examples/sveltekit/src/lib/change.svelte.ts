// Changes of a card, with the error of the last one.
import type { LatchkeyError, Result } from "@latchkey/client";
import { client } from "$lib/client";

export class Changes {
  error = $state.raw<LatchkeyError | null>(null);
  readonly #after: () => unknown;

  /** `after` runs after each change. */
  constructor(after: () => unknown = () => undefined) {
    this.#after = after;
  }

  /** Data of a change. If the session is too old, the user confirms (Challenge.svelte shows the question) and repeats it. */
  async run<Data>(work: Promise<Result<Data>>): Promise<Data | null> {
    const { data, error } = await work;
    this.error = error;
    if (error?.error === "REAUTHENTICATION_REQUIRED") await client.auth.reauthenticate();
    else if (!error) await this.#after();
    return data;
  }
}

/** Fields of a submitted form as texts. */
export function fieldsOf(event: SubmitEvent): Record<string, string> {
  event.preventDefault();
  return Object.fromEntries(new FormData(event.currentTarget as HTMLFormElement)) as Record<string, string>;
}
