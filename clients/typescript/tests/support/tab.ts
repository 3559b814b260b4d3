// Clients of type `web` in a simulated browser, and their events.
import { type AuthEvent, createClient, type LatchkeyClient } from "../../src/index.js";
import { accessTokenOf, type FakeService, session, USER } from "./fake-service.js";

/** URL of the service. */
export const baseUrl = "http://fake.example";
/** Credentials accepted by every fake service. */
export const CREDENTIALS = { email: USER.email, password: "correct horse battery" };
/** Storage key of the CSRF token. */
export const CSRF_KEY = `latchkey:${baseUrl}:csrf`;
/** Storage key of pending sign-outs. */
export const PENDING_KEY = `latchkey:${baseUrl}:sign-outs`;

const clients: LatchkeyClient[] = [];

/** Opens a tab. */
export function openTab({ fetch }: FakeService): LatchkeyClient {
  const client = createClient({ baseUrl, fetch });
  clients.push(client);
  return client;
}

/** Closes all tabs. */
export function closeTabs(): void {
  for (const client of clients.splice(0)) client.close();
}

/** Events of a tab from now on, each with the user id. */
export function eventsOf(client: LatchkeyClient): string[] {
  const heard: string[] = [];
  client.auth.onAuthStateChange((event: AuthEvent, held, error) =>
    heard.push([event, held?.user.id ?? "-", error?.error].filter(Boolean).join(" ")),
  );
  return heard;
}

/** Response of a sign-in or refresh of the user with this id. */
export const sessionOf = (id: string) =>
  session({ user: { ...USER, id }, accessToken: accessTokenOf(id), csrfToken: `csrf-${id}` });

/** Promise with its resolve function. */
export function gate(): { passed: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}
