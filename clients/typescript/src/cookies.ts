// Cookies of an app in which `@latchkey/client/ssr` stores a session.

/** Attributes of a cookie, with the names of the common cookie libraries. */
export interface CookieOptions {
  path: string;
  httpOnly: boolean;
  secure: boolean;
  sameSite: "lax" | "strict" | "none";
  /** Seconds; 0 removes the cookie. */
  maxAge: number;
  domain?: string;
}

/** Cookies of one request and its response. */
export interface Cookies {
  get(name: string): string | undefined;
  /** Omit it if the response can no longer set cookies. The client is then read-only and does not refresh. */
  set?(name: string, value: string, options: CookieOptions): void;
}

/** Names and attributes of the session cookies. */
export interface CookieSettings {
  /** Prefix of the cookie names, after `__Host-` for secure cookies without a domain. Default `latchkey`. */
  cookieName?: string;
  /** `secure` (default true; off for http in development), `sameSite` (default lax), `domain`. */
  cookieOptions?: Partial<Pick<CookieOptions, "secure" | "sameSite" | "domain">>;
}

/** Cookie lifetime in seconds: the default maximum life of a session. The service enforces the actual end. */
const SESSION_LIFE = 90 * 24 * 3600;
/** Lifetimes in seconds of the verifiers: of a sign-in with a provider or on the pages, and of a sign-in link, which lives 15 minutes by default. */
const VERIFIER_LIFE = { verifier: 3000, link: 3600 };

/** PKCE verifier of a sign-in in progress: with a provider, or by mailed link. */
export type VerifierName = keyof typeof VERIFIER_LIFE;

/** Session tokens in the cookies of one request. */
export interface SessionCookies {
  readonly access: string | undefined;
  readonly refresh: string | undefined;
  verifier(name: VerifierName): string | undefined;
  /** Writes the tokens of a session; without tokens it removes the cookies. */
  write(session: { accessToken?: string; refreshToken?: string } | null): void;
  writeVerifier(name: VerifierName, verifier?: string): void;
}

/** Opens the session cookies. */
export function sessionCookies(cookies: Cookies, { cookieName = "latchkey", cookieOptions }: CookieSettings): SessionCookies {
  const base = { path: "/", httpOnly: true, secure: true, sameSite: "lax" as const, ...cookieOptions };
  // With this prefix a browser accepts the cookie from this host only: no sibling domain can plant one.
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
    verifier: (name) => cookies.get(nameOf(name)),
    write(session) {
      write("access", session?.accessToken, SESSION_LIFE);
      write("refresh", session?.refreshToken, SESSION_LIFE);
    },
    writeVerifier: (name, verifier) => write(name, verifier, VERIFIER_LIFE[name]),
  };
}

/** Cookies from plain headers: the request's `Cookie`, and a function that adds a `Set-Cookie` to the response. */
export function headerCookies(
  cookieHeader: string | null | undefined,
  setCookie: (header: string) => void,
): Required<Cookies> {
  const values = new Map<string, string>();
  for (const pair of (cookieHeader ?? "").split(";")) {
    const [name = "", ...value] = pair.trim().split("=");
    const text = value.join("=");
    // Of two different values a sibling domain may have planted one; neither can be trusted.
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
