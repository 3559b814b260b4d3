// Cookies of an app in which `@latchkey/client/ssr` keeps a session, and how they are read and written.

/** Attributes of a cookie; the names are those of the common cookie libraries. */
export interface CookieOptions {
  path: string;
  httpOnly: boolean;
  secure: boolean;
  sameSite: "lax" | "strict" | "none";
  /** Seconds; 0 removes the cookie. */
  maxAge: number;
  domain?: string;
}

/** Cookies of one request and its answer. */
export interface Cookies {
  get(name: string): string | undefined;
  /** Left out if the answer cannot set cookies any more. Then nothing is refreshed, only read. */
  set?(name: string, value: string, options: CookieOptions): void;
}

/** Names and attributes of the session's cookies. */
export interface CookieSettings {
  /** Start of the cookie names, after `__Host-` for secure cookies without a domain. Default `latchkey`. */
  cookieName?: string;
  /** `secure` (default true; off for http in development), `sameSite` (default lax), `domain`. */
  cookieOptions?: Partial<Pick<CookieOptions, "secure" | "sameSite" | "domain">>;
}

/** Seconds that the cookies live: the longest life of a session by default. The service knows the true end. */
const SESSION_LIFE = 90 * 24 * 3600;
/** Seconds for a visit at an identity provider. */
const VERIFIER_LIFE = 600;

/** Tokens of a session in the cookies of one request. */
export interface SessionCookies {
  readonly access: string | undefined;
  readonly refresh: string | undefined;
  /** Verifier of a sign-in by OAuth that is under way. */
  readonly verifier: string | undefined;
  /** Writes the tokens of a session; without tokens the cookies go. */
  write(session: { accessToken?: string; refreshToken?: string } | null): void;
  writeVerifier(verifier?: string): void;
}

/** Finds the session's cookies. */
export function sessionCookies(cookies: Cookies, { cookieName = "latchkey", cookieOptions }: CookieSettings): SessionCookies {
  const base = { path: "/", httpOnly: true, secure: true, sameSite: "lax" as const, ...cookieOptions };
  // With this prefix a browser takes the cookie from this host alone: no neighbour under the same domain can plant one.
  const prefix = base.secure && !base.domain ? "__Host-" : "";
  const nameOf = (kind: string): string => `${prefix}${cookieName}-${kind}`;
  const write = (kind: string, value: string | undefined, life: number): void =>
    cookies.set?.(nameOf(kind), value ?? "", { ...base, maxAge: value ? life : 0 });
  return {
    get access() {
      return cookies.get(nameOf("access"));
    },
    get refresh() {
      return cookies.get(nameOf("refresh"));
    },
    get verifier() {
      return cookies.get(nameOf("verifier"));
    },
    write(session) {
      write("access", session?.accessToken, SESSION_LIFE);
      write("refresh", session?.refreshToken, SESSION_LIFE);
    },
    writeVerifier: (verifier) => write("verifier", verifier, VERIFIER_LIFE),
  };
}

/** Cookies of plain headers: the `Cookie` of a request, and a function that adds a `Set-Cookie` to its answer. */
export function headerCookies(
  cookieHeader: string | null | undefined,
  setCookie: (header: string) => void,
): Required<Cookies> {
  const values = new Map<string, string>();
  for (const pair of (cookieHeader ?? "").split(";")) {
    const [name = "", ...value] = pair.trim().split("=");
    const text = value.join("=");
    // Of two that differ a neighbour under the same domain may have planted one, and nothing tells which.
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
