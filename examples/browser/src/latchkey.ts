// Client of this app, one for the whole page.
import { createClient, type LatchkeyClient } from "@latchkey/client";
import { askInDialog } from "./challenge";

/** URL of the service. */
const baseUrl: string = import.meta.env.VITE_LATCHKEY_URL ?? "http://localhost:8700";

const client: LatchkeyClient = createClient({
  baseUrl,
  // A change of factors needs a fresh authentication: asked in a dialog, above the page that needs it.
  onReauthenticationRequired: (challenge) => askInDialog(challenge, client.auth),
});

export const { auth, profiles } = client;

/** Redirect target of links and providers: this page. */
export const here = (): string => location.origin + location.pathname;
