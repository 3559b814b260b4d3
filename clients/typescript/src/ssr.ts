// @latchkey/client/ssr: a session in the cookies of an app that renders on a server. The browser talks to the app
// alone; the app talks to the service.
import { claimsOf } from "./claims.js";
import { assemble } from "./client.js";
import type { AppTypes, LatchkeyClient } from "./contract.js";
import { type Cookies, type CookieSettings, sessionCookies } from "./cookies.js";
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
 * Client whose session lives in the cookies of the app. Create one per request: it refreshes at most once, whatever the
 * outcome, and writes the new tokens back. If `cookies` has no `set`, it only reads: a session whose access token ended
 * is no session then, and the refresh token stays as it is.
 */
export function createServerClient<Types extends AppTypes = AppTypes>(options: ServerClientOptions): LatchkeyClient<Types> {
  const { cookies, cookieName: _, cookieOptions: __, ...rest } = options;
  const kept = sessionCookies(cookies, options);
  const storage: Storage = {
    get: () => kept.verifier ?? null,
    set: (_, verifier) => kept.writeVerifier(verifier),
    remove: () => kept.writeVerifier(),
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
    if (event !== "USER_UPDATED") kept.write(session);
  });
  return (isReadOnly ? readOnly(client) : client) as LatchkeyClient<Types>;
}

/** Whether a token is over by its own word; one that cannot be read is. */
const hasEnded = (token: string): boolean => !((claimsOf(token).exp ?? 0) * 1000 > Date.now());

/** A client that cannot refresh knows nobody by a token that the service refuses. */
function readOnly(client: LatchkeyClient): LatchkeyClient {
  const { getCurrentUser, getCurrentSession } = client.auth;
  const isNobody = (error: LatchkeyError | null): boolean => error?.error === "AUTH_UNAUTHORIZED";
  return {
    ...client,
    auth: {
      ...client.auth,
      async getCurrentUser() {
        const result = await getCurrentUser();
        return isNobody(result.error) ? success({ user: null }) : result;
      },
      async getCurrentSession() {
        const result = await getCurrentSession();
        return isNobody(result.error) ? success({ session: null }) : result;
      },
    },
  };
}
