// A proxy route of the app to the service: `createClient({ baseUrl: "/auth" })` in the browser, `handleAuth` on the server.
// To the browser it looks like the service with its cookie; the tokens are those of `createServerClient`, so that pages
// rendered by the server have the same session.
import { claimsOf } from "./claims.js";
import { type CookieSettings, headerCookies, sessionCookies, type SessionCookies } from "./cookies.js";
import type { ErrorCode } from "./errors.js";
import { type ClientOptions, settle } from "./options.js";

/** Options of `handleAuth`. */
export interface AuthHandlerOptions extends CookieSettings, Pick<ClientOptions, "baseUrl" | "anonKey" | "timeout" | "fetch"> {
  /** Mount path of the handler. Default `/auth`. */
  path?: string;
  /**
   * Origins allowed to write. Default: the host of the request, or of `X-Forwarded-Host` behind a proxy.
   */
  origins?: string[];
  /** Additional headers for the service, for example `X-Forwarded-For` with the visitor's address. */
  headers?: (request: Request) => Record<string, string>;
}

/** Calls that can open a session. */
const OPENING = [
  ...["users", "sessions", "id-token", "email/verify", "oauth/exchange"],
  ...["challenges/answer", "factors/totp/confirm", "factors/two-step", "passkeys", "passkeys/sign-in"],
].map((path) => `POST auth/${path}`);

/** Other calls that are forwarded; `*` is one id or key. */
const PASSED = [
  ...["sessions", "sessions/current", "account", "account/export", "events", "public-config", "identities", "passkeys", "profiles/*", "oauth/*", "oauth/custom/*"].map(
    (path) => `GET auth/${path}`,
  ),
  ...["me", "search", "*"].map((path) => `GET profiles/${path}`),
  ...[
    ...["password", "email/change", "email/change/confirm", "identities/*/link", "reauthenticate", "factors/totp", "factors/recovery-codes"],
    ...["challenges/send-code", "challenges/passkey-options", "passkeys/registration-options", "passkeys/authentication-options"],
  ].map((path) => `POST auth/${path}`),
  ...["send-otp", "send-verification", "send-reset-password", "exchange-reset-password-token", "reset-password"].map(
    (path) => `POST auth/email/${path}`,
  ),
  ...["account", "sessions/*", "profiles/current", "factors/totp/*", "passkeys/*"].map((path) => `PATCH auth/${path}`),
  "PATCH profiles/me",
  ...["sessions", "sessions/*", "email/change", "identities/*", "factors/totp/*", "passkeys/*"].map((path) => `DELETE auth/${path}`),
];
const ALLOWED = new RegExp(`^(?:${PASSED.map((call) => call.replaceAll("*", "[\\w-]+")).join("|")})$`);

/** Request headers forwarded to the service. */
const FORWARDED = ["authorization", "content-type", "if-match", "user-agent", "accept-language"];
/** Response headers returned to the browser. */
const RETURNED = ["content-type", "etag", "retry-after", "x-request-id", "x-total-count", "x-page", "x-page-size"];
/** Maximum body size in bytes. The service has its own limit; this one protects the app's memory. */
const MAX_BODY = 131_072;
/** Errors of a refresh that end the session. */
const OVER = ["AUTH_UNAUTHORIZED", "USER_BANNED"];

/** Used fields of a session response. */
interface SessionBody {
  accessToken?: string;
  refreshToken?: string;
  error?: string;
}

/** One proxied call. */
interface Exchange {
  request: Request;
  /** Method and path below `/api/`. */
  call: string;
  query: URLSearchParams;
  cookies: SessionCookies;
  /** Forwards the call to the service, with `body` instead of the browser's if given. */
  send(query: URLSearchParams, body?: object): Promise<Response>;
  /** Creates the response for the browser, cookies included. */
  answer(status: number, body: unknown, headers?: Headers): Response;
}

/** Creates the route handler. Requests are those of the Fetch standard, as in Next.js, SvelteKit, Hono, Deno and Bun. */
export function handleAuth(options: AuthHandlerOptions): (request: Request) => Promise<Response> {
  const settings = settle({ ...options, headers: {}, isServerMode: true });
  const mount = `${(options.path ?? "/auth").replace(/\/+$/, "")}/api/`;
  return async (request) => {
    const url = new URL(request.url);
    const out = new Headers({ "cache-control": "no-store" });
    const jar = headerCookies(request.headers.get("cookie"), (cookie) => out.append("set-cookie", cookie));
    const answer: Exchange["answer"] = (status, body, headers) => {
      out.set("content-type", "application/json; charset=utf-8");
      for (const name of RETURNED) if (headers?.has(name)) out.set(name, headers.get(name) as string);
      return new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers: out });
    };
    const isHere = url.pathname.startsWith(mount);
    const call = `${request.method} ${url.pathname.slice(mount.length)}`;
    const route = isHere ? routeOf(call) : undefined;
    if (!route) return refuse(answer, 404, "NOT_FOUND", `There is no route ${request.method} ${url.pathname}.`);
    if (!isOwnPage(request, url, options.origins)) {
      return refuse(answer, 403, "FORBIDDEN", "This request is not from a page of this app.");
    }
    const body = await bodyOf(request);
    if (body === null) return refuse(answer, 413, "PAYLOAD_TOO_LARGE", "The body is too large.");
    const send: Exchange["send"] = (query, given) =>
      settings.fetch(`${settings.baseUrl}/api/${call.split(" ")[1]}${query.size ? `?${query}` : ""}`, {
        method: request.method,
        headers: headersOf(request, call, options, given),
        signal: AbortSignal.timeout(settings.timeout),
        redirect: "manual",
        ...((given ?? body) && { body: given ? JSON.stringify(given) : body }),
      });
    const cookies = sessionCookies(jar, options);
    try {
      return await route({ request, call, query: url.searchParams, cookies, send, answer });
    } catch {
      return refuse(answer, 502, "NETWORK_ERROR", "The app could not reach the service.");
    }
  };
}

type Route = (exchange: Exchange) => Promise<Response>;

function routeOf(call: string): Route | undefined {
  if (call === "GET auth/csrf") return csrf;
  if (call === "POST auth/refresh") return refresh;
  if (call === "POST auth/logout") return logout;
  if (call === "DELETE auth/account") return remove;
  if (OPENING.includes(call)) return open;
  return ALLOWED.test(call) ? pass : undefined;
}

/** Forwards a call unchanged. */
const pass: Route = async ({ query, send, answer }) => {
  query.delete("client_type");
  const response = await send(query);
  return answer(response.status, await response.text(), response.headers);
};

/** Forwards a call that can open a session: the refresh token goes into the cookie, not to the browser. */
const open: Route = async ({ query, cookies, send, answer }) => {
  query.set("client_type", "server");
  return withoutTokens(await send(query), cookies, answer);
};

const refresh: Route = async ({ request, query, cookies, send, answer }) => {
  const refreshToken = cookies.refresh;
  if (!refreshToken) return refuse(answer, 401, "AUTH_UNAUTHORIZED", "There is no session.", "Sign in.");
  if (!isOfSession(request, cookies)) return wrongCsrfToken(answer);
  query.set("client_type", "server");
  return withoutTokens(await send(query, { refreshToken }), cookies, answer, true);
};

const logout: Route = async ({ request, query, cookies, send, answer }) => {
  // A sign-out by bearer ends another session than the cookie's.
  const isByCookie = query.get("client_type") === "web";
  const refreshToken = isByCookie ? cookies.refresh : undefined;
  if (refreshToken && !isOfSession(request, cookies)) return wrongCsrfToken(answer);
  query.set("client_type", "server");
  // The browser is signed out even if the service is unreachable.
  if (isByCookie) cookies.write(null);
  const response = await send(query, { ...(refreshToken && { refreshToken }) });
  return answer(response.status, await response.text(), response.headers);
};

/** Deletes the account, and with it the session. */
const remove: Route = async ({ query, cookies, send, answer }) => {
  query.set("client_type", "server");
  const response = await send(query);
  if (response.ok) cookies.write(null);
  return answer(response.status, await response.text(), response.headers);
};

/** Returns the CSRF token of the cookie to a page without one: a form or another app opened the session. */
const csrf: Route = async ({ cookies, answer }) =>
  cookies.refresh
    ? answer(200, { csrfToken: csrfOf(cookies.access) ?? "session" })
    : refuse(answer, 401, "AUTH_UNAUTHORIZED", "There is no session.", "Sign in.");

/** CSRF token: the session id, which is constant for the session's life and known only to pages of this origin. */
const csrfOf = (accessToken: string | undefined): string | undefined => accessToken && claimsOf(accessToken).sid;

/** Whether the CSRF token belongs to the cookie's session. Without an access token there is nothing to compare. */
function isOfSession(request: Request, cookies: SessionCookies): boolean {
  const given = request.headers.get("x-csrf-token");
  return Boolean(given) && given === (csrfOf(cookies.access) ?? given);
}

async function withoutTokens(
  response: Response,
  cookies: SessionCookies,
  answer: Exchange["answer"],
  isRefresh = false,
): Promise<Response> {
  const text = await response.text();
  const body = parsed(text);
  if (isRefresh && !response.ok && OVER.includes(body?.error ?? "")) cookies.write(null);
  if (!response.ok || !body?.accessToken || !body.refreshToken) return answer(response.status, text, response.headers);
  cookies.write({ accessToken: body.accessToken, refreshToken: body.refreshToken });
  const { refreshToken: _, ...rest } = body;
  return answer(response.status, { ...rest, csrfToken: csrfOf(body.accessToken) ?? "session" }, response.headers);
}

function parsed(text: string): SessionBody | null {
  try {
    return JSON.parse(text) as SessionBody | null;
  } catch {
    return null;
  }
}

/** Whether a page of the app sent the request. Browsers send `Origin` with every write. */
function isOwnPage(request: Request, url: URL, origins: string[] | undefined): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (request.method === "GET") return site === null || site === "same-origin" || site === "none";
  if (site !== null && site !== "same-origin") return false;
  const origin = request.headers.get("origin");
  if (!origin || origin === "null") return false;
  if (origins) return origins.includes(origin);
  const { headers } = request;
  const host = headers.get("x-forwarded-host")?.split(",")[0]?.trim() ?? headers.get("host") ?? url.host;
  return /^https?:\/\/(.+)$/.exec(origin)?.[1] === host;
}

/** Text of a body; null if it is too large. */
async function bodyOf(request: Request): Promise<string | null> {
  const reader = request.body?.getReader();
  if (!reader) return "";
  const decoder = new TextDecoder();
  let text = "";
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > MAX_BODY) {
      await reader.cancel();
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

function headersOf(request: Request, call: string, options: AuthHandlerOptions, body?: object): Headers {
  const headers = new Headers(options.headers?.(request));
  for (const name of FORWARDED) {
    const value = request.headers.get(name);
    if (value !== null && !headers.has(name)) headers.set(name, value);
  }
  // On this path an admin key would select the admin operation.
  if (call === "POST auth/users") headers.delete("authorization");
  if (options.anonKey && !headers.has("authorization")) headers.set("authorization", `Bearer ${options.anonKey}`);
  if (body) headers.set("content-type", "application/json");
  return headers;
}

function refuse(
  answer: Exchange["answer"],
  statusCode: number,
  error: ErrorCode,
  message: string,
  nextAction = "Check the mount path of handleAuth, and the origin of the calling page.",
): Response {
  return answer(statusCode, { error, message, statusCode, nextAction, nextActions: nextAction });
}

const wrongCsrfToken = (answer: Exchange["answer"]): Response =>
  refuse(answer, 403, "INVALID_CSRF_TOKEN", "The CSRF token does not match this session.", "Get it from GET api/auth/csrf.");
