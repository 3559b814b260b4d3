// @latchkey/client/ssr: a session in the cookies of an app that renders on a server. The browser talks to the app
// alone; the app talks to the service. One client per request: it refreshes at most once, whatever comes of it, and
// writes the new tokens back to where they came from.
import { assemble, type LatchkeyClient } from "./client.js";
import type { ClientOptions } from "./options.js";
import type { Storage } from "./storage.js";

export type { LatchkeyClient } from "./client.js";

/** How a cookie is set; the names are those of the common cookie libraries. */
export interface CookieOptions {
  path: string;
  httpOnly: boolean;
  secure: boolean;
  sameSite: "lax" | "strict" | "none";
  /** Seconds; 0 removes the cookie. */
  maxAge: number;
  domain?: string;
}

/** The cookies of one request and its answer. */
export interface Cookies {
  get(name: string): string | undefined;
  /** Left out where the answer cannot set cookies any more: then nothing is refreshed, only read. */
  set?(name: string, value: string, options: CookieOptions): void;
}

/** What `createServerClient` takes. */
export interface ServerClientOptions
  extends Pick<ClientOptions, "baseUrl" | "anonKey" | "headers" | "timeout" | "fetch"> {
  cookies: Cookies;
  /** The beginning of the names of the cookies, after `__Host-` where they are secure and no domain is given. Default `latchkey`. */
  cookieName?: string;
  /** `secure` (default true; off for http in development), `sameSite` (default lax), `domain`. */
  cookieOptions?: Partial<Pick<CookieOptions, "secure" | "sameSite" | "domain">>;
}

/** Seconds that the cookies live: the longest life of a session by default. The service knows the true end. */
const SESSION_LIFE = 90 * 24 * 3600;
/** Seconds for a visit at an identity provider. */
const VERIFIER_LIFE = 600;

/** A client whose session lives in the cookies of the app. Made for one request, and gone with it. */
export function createServerClient(options: ServerClientOptions): LatchkeyClient {
  const { cookies, cookieName = "latchkey", cookieOptions, ...rest } = options;
  const base = { path: "/", httpOnly: true, secure: true, sameSite: "lax" as const, ...cookieOptions };
  // With this prefix a browser takes the cookie from this host alone: no neighbour under the same domain can plant one.
  const prefix = base.secure && !base.domain ? "__Host-" : "";
  const [access, refresh, verifier] = ["access", "refresh", "verifier"].map((name) => `${prefix}${cookieName}-${name}`);
  const names = { access, refresh, verifier } as { access: string; refresh: string; verifier: string };
  const write = (name: string, value: string | undefined, life: number): void =>
    cookies.set?.(name, value ?? "", { ...base, maxAge: value ? life : 0 });

  const storage: Storage = {
    get: () => cookies.get(names.verifier) ?? null,
    set: (_, verifier) => write(names.verifier, verifier, VERIFIER_LIFE),
    remove: () => write(names.verifier, undefined, 0),
    isDurable: true,
  };
  const accessToken = cookies.get(names.access);
  const refreshToken = cookies.get(names.refresh);
  const { client, sessions } = assemble(
    {
      ...rest,
      isServerMode: true,
      autoRefresh: cookies.set !== undefined,
      ...(accessToken && { accessToken }),
      ...(refreshToken && { refreshToken }),
    },
    storage,
  );
  sessions.store.listen((event, session) => {
    if (event === "USER_UPDATED") return;
    write(names.access, session?.accessToken, SESSION_LIFE);
    write(names.refresh, session?.refreshToken, SESSION_LIFE);
  });
  return client;
}

/** Cookies of plain headers: the `Cookie` of a request, and a function that adds a `Set-Cookie` to its answer. */
export function headerCookies(cookieHeader: string | null | undefined, setCookie: (header: string) => void): Cookies {
  const values = new Map<string, string>();
  for (const pair of (cookieHeader ?? "").split(";")) {
    const [name = "", ...value] = pair.trim().split("=");
    const text = value.join("=");
    // Two that differ: a neighbour under the same domain may have planted one, and nothing tells which.
    values.set(name, (values.get(name) ?? text) === text ? text : "");
  }
  return {
    get: (name) => values.get(name) || undefined,
    set: (name, value, { path, httpOnly, secure, sameSite, maxAge, domain }) => {
      values.set(name, value);
      const attributes = [
        `${name}=${value}`,
        `Path=${path}`,
        `Max-Age=${maxAge}`,
        `SameSite=${sameSite}`,
        ...(httpOnly ? ["HttpOnly"] : []),
        ...(secure ? ["Secure"] : []),
        ...(domain ? [`Domain=${domain}`] : []),
      ];
      setCookie(attributes.join("; "));
    },
  };
}
