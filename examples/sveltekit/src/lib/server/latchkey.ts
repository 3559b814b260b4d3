// Server-side access to the service. The browser calls routes/auth/[...path] instead.
import { env } from "$env/dynamic/private";

/** URL of the service. */
export const baseUrl = env.LATCHKEY_URL ?? "http://localhost:8700";

/** This app is served over http on localhost, and over https everywhere else. */
export const cookieOptions = { secure: (env.ORIGIN ?? "http://localhost").startsWith("https:") };
