// What a client is made with, and what follows from it.

/** Who calls: it decides where the refresh token lives. `web`: an httpOnly cookie; all others: in your hands. */
export type ClientType = "web" | "mobile" | "desktop" | "server";

/** What `createClient` takes. */
export interface ClientOptions {
  /**
   * Address of the service: scheme, host and port. Or a path like `/auth`: the route of your own app at which `handleAuth`
   * of `@latchkey/client/ssr` answers.
   */
  baseUrl: string;
  /** The anonymous key of public calls, where the operator demands one. No secret. */
  anonKey?: string;
  /**
   * Off (the default): a client for browsers. On: tokens are given to you (`refreshToken` beside `accessToken`),
   * nothing is kept in cookies, no timer runs, and a refresh happens when you call it. Such a client holds the
   * session of one user: make one per request.
   */
  isServerMode?: boolean;
  /** `mobile` and `desktop` keep the refresh token in memory and refresh by themselves. Default `web`. */
  clientType?: ClientType;
  /** The access token to begin with, in server mode. */
  accessToken?: string;
  /** The refresh token to begin with; not for `web`. */
  refreshToken?: string;
  /** Whether sessions are refreshed without being asked to. Default: all but `server`. */
  autoRefresh?: boolean;
  /**
   * Reads codes, tokens and outcomes of links from the address of the page at the start, and takes them out of the address
   * bar. Default true; off for apps that call `readRedirectResult` and `exchangeOAuthCode` themselves.
   */
  detectRedirect?: boolean;
  /** The beginning of the parameters that a redirect target receives (`auth.redirect_param_prefix`). */
  redirectParamPrefix?: string;
  /** Headers of every request, for example `X-Forwarded-For` of a trusted backend. */
  headers?: Record<string, string>;
  /** Milliseconds after which a request is given up with `NETWORK_ERROR`. Default 20000. */
  timeout?: number;
  /** Another `fetch`. */
  fetch?: typeof fetch;
}

/** The options with nothing left open. */
export interface Settings {
  baseUrl: string;
  anonKey: string | undefined;
  clientType: ClientType;
  autoRefresh: boolean;
  detectRedirect: boolean;
  prefix: string;
  headers: Record<string, string>;
  timeout: number;
  fetch: typeof fetch;
  /** What names this service in the storage of a site, in locks and in channels. */
  scope: string;
}

/** Whether this is the page of a browser: there is an address bar, and cookies are kept. */
export const isPage = (): boolean => typeof document !== "undefined" && typeof location !== "undefined";

/** Address without slashes at its end. Throws a `TypeError` that says what is wrong: a mistake in the program. */
function addressOf(baseUrl: string): string {
  const text = `${baseUrl}`.trim().replace(/\/+$/, "");
  // A path is the app's own route, on the origin of the page.
  if (/^\/[^/]/.test(text)) return text;
  if (/^https?:\/\/[^/?#@\s]+$/i.test(text)) return new URL(text).href.replace(/\/$/, "");
  const fault = /^https?:/i.test(text) ? "has more than scheme, host and port" : "has no scheme";
  throw new TypeError(`baseUrl "${baseUrl}" ${fault}. Write it like "https://accounts.example.com".`);
}

/** Fills in the defaults. */
export function settle(options: ClientOptions): Settings {
  const baseUrl = addressOf(options.baseUrl);
  const clientType = options.isServerMode ? "server" : (options.clientType ?? "web");
  return {
    baseUrl,
    anonKey: options.anonKey,
    clientType,
    autoRefresh: options.autoRefresh ?? clientType !== "server",
    detectRedirect: options.detectRedirect ?? true,
    prefix: options.redirectParamPrefix ?? "service",
    headers: options.headers ?? {},
    timeout: options.timeout ?? 20_000,
    // Called through an arrow: `fetch` of a browser refuses to be a method of another object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    scope: `latchkey:${baseUrl}`,
  };
}
