// Server-side access to the service. The browser calls app/auth/[...path]/route.ts instead.
import { createServerClient, type Cookies } from "@latchkey/client/ssr";

/** URL of the service. */
export const baseUrl = process.env.LATCHKEY_URL ?? "http://localhost:8700";

/** This app is served over http on localhost, and over https everywhere else. */
export const cookieOptions = { secure: (process.env.ORIGIN ?? "http://localhost").startsWith("https:") };

/**
 * Client of one request, with the visitor's device for the list of sessions. Without `set` it is read-only: a Server Component
 * cannot write cookies.
 */
export const clientOf = (cookies: Cookies, agent: string | null) =>
  createServerClient({ baseUrl, cookies, cookieOptions, headers: { "user-agent": agent ?? "" } });
