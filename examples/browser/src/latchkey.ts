// The client of this app: one for the whole page.
import { createClient } from "@latchkey/client";

/** Where the service is. */
const baseUrl: string = import.meta.env.VITE_LATCHKEY_URL ?? "http://localhost:8700";

export const { auth, profiles } = createClient({ baseUrl });

/** Where links and providers send the browser back to: this page. */
export const here = (): string => location.origin + location.pathname;
