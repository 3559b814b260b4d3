// Client of this app, one for the whole page.
import { createClient } from "@latchkey/client";

/** URL of the service. */
const baseUrl: string = import.meta.env.VITE_LATCHKEY_URL ?? "http://localhost:8700";

export const { auth, profiles } = createClient({ baseUrl });

/** Redirect target of links and providers: this page. */
export const here = (): string => location.origin + location.pathname;
