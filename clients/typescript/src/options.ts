// What a client is made with, and what follows from it.

/** Who calls: it decides where the refresh token lives. `web`: an httpOnly cookie; all others: in your hands. */
export type ClientType = "web" | "mobile" | "desktop" | "server";

/** What `createClient` takes. */
export interface ClientOptions {
  /** The address of the service: scheme, host and port. */
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
  /** Where `service_code` is looked for at the start; off for apps that call `exchangeOAuthCode` themselves. */
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

/** Fills in the defaults. Throws a `TypeError` for an address that is none: that is a mistake in the program. */
export function settle(options: ClientOptions): Settings {
  const baseUrl = new URL(options.baseUrl).href.replace(/\/+$/, "");
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
