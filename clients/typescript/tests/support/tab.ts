// Clients of type `web` in a small browser, and the events that they tell.
import { type AuthEvent, createClient, type LatchkeyClient } from "../../src/index.js";
import { accessTokenOf, type FakeService, session, USER } from "./fake-service.js";

/** The service of these tabs. */
export const baseUrl = "http://fake.example";
/** Credentials that every fake service takes. */
export const CREDENTIALS = { email: USER.email, password: "correct horse battery" };
/** Where a page keeps the CSRF token. */
export const CSRF_KEY = `latchkey:${baseUrl}:csrf`;
/** Where it keeps sign-outs that the service did not hear of. */
export const PENDING_KEY = `latchkey:${baseUrl}:sign-outs`;

const clients: LatchkeyClient[] = [];

/** A new tab. */
export function openTab({ fetch }: FakeService): LatchkeyClient {
  const client = createClient({ baseUrl, fetch });
  clients.push(client);
  return client;
}

/** Closes all tabs. */
export function closeTabs(): void {
  for (const client of clients.splice(0)) client.close();
}

/** The events of a tab from now on, each with the user's id. */
export function eventsOf(client: LatchkeyClient): string[] {
  const heard: string[] = [];
  client.auth.onAuthStateChange((event: AuthEvent, held, error) =>
    heard.push([event, held?.user.id ?? "-", error?.error].filter(Boolean).join(" ")),
  );
  return heard;
}

/** The answer to a sign-in or refresh of a user with this id. */
export const sessionOf = (id: string) =>
  session({ user: { ...USER, id }, accessToken: accessTokenOf(id), csrfToken: `csrf-${id}` });

/** A promise, and the function that resolves it. */
export function gate(): { passed: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}
