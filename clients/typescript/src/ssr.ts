// @latchkey/client/ssr: a session in the cookies of a server-rendered app. The browser calls only the app; the app calls the
// service.
import { claimsOf } from "./claims.js";
import { assemble } from "./client.js";
import type { AppTypes, LatchkeyClient } from "./contract.js";
import { type Cookies, type CookieSettings, sessionCookies, type VerifierName } from "./cookies.js";
import { type LatchkeyError, success } from "./errors.js";
import type { ClientOptions } from "./options.js";
import type { Storage } from "./storage.js";

export type { LatchkeyClient } from "./contract.js";
export { type CookieOptions, type Cookies, type CookieSettings, headerCookies } from "./cookies.js";
export { type AuthHandlerOptions, handleAuth } from "./handle-auth.js";

/** Options of `createServerClient`. */
export interface ServerClientOptions
  extends CookieSettings,
    Pick<ClientOptions, "baseUrl" | "anonKey" | "headers" | "timeout" | "fetch"> {
  cookies: Cookies;
}

/**
 * Creates a client with its session in the cookies of the app. Create one per request: it refreshes at most once and writes
 * the new tokens back. Without `cookies.set` it is read-only: a session with an expired access token is then no session,
 * and the refresh token is not used.
 */
export function createServerClient<Types extends AppTypes = AppTypes>(options: ServerClientOptions): LatchkeyClient<Types> {
  const { cookies, cookieName: _, cookieOptions: __, ...rest } = options;
  const kept = sessionCookies(cookies, options);
  // The last word of a key is the name of the cookie.
  const nameOf = (key: string): VerifierName => key.slice(key.lastIndexOf(":") + 1) as VerifierName;
  const storage: Storage = {
    get: (key) => kept.verifier(nameOf(key)) ?? null,
    set: (key, verifier) => kept.writeVerifier(nameOf(key), verifier),
    remove: (key) => kept.writeVerifier(nameOf(key)),
    isDurable: true,
  };
  const isReadOnly = cookies.set === undefined;
  const { access, refresh } = kept;
  const accessToken = isReadOnly && access && hasEnded(access) ? undefined : access;
  const refreshToken = isReadOnly ? undefined : refresh;
  const { client, sessions } = assemble(
    {
      ...rest,
      isServerMode: true,
      autoRefresh: !isReadOnly,
      ...(accessToken && { accessToken }),
      ...(refreshToken && { refreshToken }),
    },
    storage,
  );
  sessions.store.listen((event, session) => {
    if (event !== "USER_UPDATED" && event !== "CHALLENGED") kept.write(session);
  });
  return (isReadOnly ? readOnly(client) : client) as LatchkeyClient<Types>;
}

/** Whether a token has expired by its own claims; true if it cannot be decoded. */
const hasEnded = (token: string): boolean => !((claimsOf(token).exp ?? 0) * 1000 > Date.now());

/** Read-only client: a refused token means no user, because it cannot refresh. */
function readOnly(client: LatchkeyClient): LatchkeyClient {
  const { getCurrentUser, getCurrentSession } = client.auth;
  const isRefused = (error: LatchkeyError | null): boolean => error?.error === "AUTH_UNAUTHORIZED";
  return {
    ...client,
    auth: {
      ...client.auth,
      async getCurrentUser() {
        const result = await getCurrentUser();
        return isRefused(result.error) ? success({ user: null }) : result;
      },
      async getCurrentSession() {
        const result = await getCurrentSession();
        return isRefused(result.error) ? success({ session: null }) : result;
      },
    },
  };
}
