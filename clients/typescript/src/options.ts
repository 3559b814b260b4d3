// Options of a client and their defaults.
import type { Challenge, Reauthenticated } from "./types.js";

/** Client type: determines the storage of the refresh token. `web`: an httpOnly cookie; all others: the app. */
export type ClientType = "web" | "mobile" | "desktop" | "server";

/** Options of `createClient`. */
export interface ClientOptions {
  /**
   * URL of the service: scheme, host and port. Or a path like `/auth`: the route of your own app with `handleAuth` of
   * `@latchkey/client/ssr`.
   */
  baseUrl: string;
  /**
   * Public URL of the service (`server.public_url`), where its pages are. Default: `baseUrl`. Set it if `baseUrl` is a route of
   * your own app, or an internal URL.
   */
  publicUrl?: string;
  /** Anonymous key for public calls, if the operator requires one. Not a secret. */
  anonKey?: string;
  /**
   * Default false: a client for browsers. True: tokens are returned to you (`refreshToken` with `accessToken`), no cookies,
   * no timers, and refreshes only when you call `refreshSession`. Such a client holds the session of one user: create one
   * per request.
   */
  isServerMode?: boolean;
  /** `mobile` and `desktop` hold the refresh token in memory and refresh automatically. Default `web`. */
  clientType?: ClientType;
  /** Initial access token, in server mode. */
  accessToken?: string;
  /** Initial refresh token; not for `web`. */
  refreshToken?: string;
  /** Refreshes sessions automatically. Default: true except for `server`. */
  autoRefresh?: boolean;
  /**
   * Reads codes, tokens and redirect results from the page URL at the start, and removes them from the address bar. Default
   * true; false for apps that call `readRedirectResult` and `exchangeOAuthCode` themselves.
   */
  detectRedirect?: boolean;
  /**
   * Called once when a call is refused with `REAUTHENTICATION_REQUIRED`: answer the challenge with `auth.answerChallenge`.
   * When the promise resolves after a right answer, the call is repeated once; otherwise it returns its error. Calls that
   * are refused meanwhile wait for the same promise.
   */
  onReauthenticationRequired?: (challenge: Challenge<Reauthenticated>) => Promise<unknown>;
  /** Prefix of the redirect parameters (`auth.redirect_param_prefix`). */
  redirectParamPrefix?: string;
  /** Additional headers of every request, for example `X-Forwarded-For` of a trusted backend. */
  headers?: Record<string, string>;
  /** Request timeout in milliseconds, reported as `NETWORK_ERROR`. Default 20000. */
  timeout?: number;
  /** Custom `fetch`. */
  fetch?: typeof fetch;
}

/** Options with all defaults filled in. */
export interface Settings {
  baseUrl: string;
  /** Where the pages of the service are. */
  publicUrl: string;
  anonKey: string | undefined;
  clientType: ClientType;
  autoRefresh: boolean;
  detectRedirect: boolean;
  prefix: string;
  headers: Record<string, string>;
  timeout: number;
  fetch: typeof fetch;
  /** Namespace of this service in storage, locks and channels. */
  scope: string;
}

/** Whether the code runs in a browser page, with an address bar and cookies. */
export const isPage = (): boolean => typeof document !== "undefined" && typeof location !== "undefined";

/** URL without trailing slashes. Throws a `TypeError` that names the mistake. */
function addressOf(url: string, name: keyof ClientOptions): string {
  const text = `${url}`.trim().replace(/\/+$/, "");
  // A path is a route of the app, on the origin of the page.
  if (/^\/[^/]/.test(text)) return text;
  if (/^https?:\/\/[^/?#@\s]+$/i.test(text)) return new URL(text).href.replace(/\/$/, "");
  const fault = /^https?:/i.test(text) ? "has more than scheme, host and port" : "has no scheme";
  throw new TypeError(`${name} "${url}" ${fault}. Write it like "https://accounts.example.com".`);
}

/** Fills in the defaults. */
export function settle(options: ClientOptions): Settings {
  const baseUrl = addressOf(options.baseUrl, "baseUrl");
  const clientType = options.isServerMode ? "server" : (options.clientType ?? "web");
  return {
    baseUrl,
    publicUrl: addressOf(options.publicUrl ?? baseUrl, "publicUrl"),
    anonKey: options.anonKey,
    clientType,
    autoRefresh: options.autoRefresh ?? clientType !== "server",
    detectRedirect: options.detectRedirect ?? true,
    prefix: options.redirectParamPrefix ?? "service",
    headers: options.headers ?? {},
    timeout: options.timeout ?? 20_000,
    // An arrow function: browsers refuse `fetch` as a method of another object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    scope: `latchkey:${baseUrl}`,
  };
}
