// A route of the app through which its pages speak with the service: `createClient({ baseUrl: "/auth" })` in the
// browser, `handleAuth` on the server. To the browser it looks like the service with its cookie; the tokens are those of
// `createServerClient`, so that pages rendered by the server know the same session.
import { claimsOf } from "./claims.js";
import { type CookieSettings, headerCookies, sessionCookies, type SessionCookies } from "./cookies.js";
import type { ErrorCode } from "./errors.js";
import { type ClientOptions, settle } from "./options.js";

/** Options of `handleAuth`. */
export interface AuthHandlerOptions extends CookieSettings, Pick<ClientOptions, "baseUrl" | "anonKey" | "timeout" | "fetch"> {
  /** Path at which the app mounts the handler. Default `/auth`. */
  path?: string;
  /**
   * Origins from which pages may write. Default: the host of the request, or the one that a proxy names in
   * `X-Forwarded-Host`.
   */
  origins?: string[];
  /** Headers for the service, for example `X-Forwarded-For` with the visitor's address. */
  headers?: (request: Request) => Record<string, string>;
}

/** Calls that may open a session. */
const OPENING = ["users", "sessions", "id-token", "email/verify", "oauth/exchange"].map((path) => `POST auth/${path}`);

/** Other calls that go through; `*` is one id or key. */
const PASSED = [
  ...["sessions", "sessions/current", "public-config", "identities", "profiles/*", "oauth/*", "oauth/custom/*"].map(
    (path) => `GET auth/${path}`,
  ),
  ...["me", "search", "*"].map((path) => `GET profiles/${path}`),
  ...["password", "identities/*/link"].map((path) => `POST auth/${path}`),
  ...["send-verification", "send-reset-password", "exchange-reset-password-token", "reset-password"].map(
    (path) => `POST auth/email/${path}`,
  ),
  ...["PATCH auth/profiles/current", "PATCH profiles/me"],
  ...["sessions", "sessions/*", "identities/*"].map((path) => `DELETE auth/${path}`),
];
const ALLOWED = new RegExp(`^(?:${PASSED.map((call) => call.replaceAll("*", "[\\w-]+")).join("|")})$`);

/** Headers of the browser that the service hears of. */
const FORWARDED = ["authorization", "content-type", "if-match", "user-agent", "accept-language"];
/** Headers of the service that the browser gets. */
const RETURNED = ["content-type", "etag", "retry-after", "x-request-id", "x-total-count", "x-page", "x-page-size"];
/** Bytes of the largest body. The service has a limit of its own; this one guards the memory of the app. */
const LARGEST_BODY = 131_072;
/** Refusals of a refresh that end the session. */
const OVER = ["AUTH_UNAUTHORIZED", "USER_BANNED"];

/** Body of a session answer, as far as it matters here. */
interface SessionBody {
  accessToken?: string;
  refreshToken?: string;
  error?: string;
}

/** A call on its way. */
interface Exchange {
  request: Request;
  /** Method and path below `/api/`. */
  call: string;
  query: URLSearchParams;
  cookies: SessionCookies;
  /** Sends it to the service; with a body, that one instead of the browser's. */
  send(query: URLSearchParams, body?: object): Promise<Response>;
  /** Answers the browser, cookies included. */
  answer(status: number, body: unknown, headers?: Headers): Response;
}

/** Handler for the route; the request is one of the Fetch standard, as Next.js, SvelteKit, Hono, Deno and Bun have it. */
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
      return refuse(answer, 403, "FORBIDDEN", "This request does not come from a page of this app.");
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
  if (OPENING.includes(call)) return open;
  return ALLOWED.test(call) ? pass : undefined;
}

/** A call that goes through as it is. */
const pass: Route = async ({ query, send, answer }) => {
  query.delete("client_type");
  const response = await send(query);
  return answer(response.status, await response.text(), response.headers);
};

/** A call that may open a session: its refresh token goes into the cookie and not to the browser. */
const open: Route = async ({ query, cookies, send, answer }) => {
  query.set("client_type", "server");
  return withoutTokens(await send(query), cookies, answer);
};

const refresh: Route = async ({ request, query, cookies, send, answer }) => {
  const refreshToken = cookies.refresh;
  if (!refreshToken) return refuse(answer, 401, "AUTH_UNAUTHORIZED", "There is no session.", "Sign in.");
  if (!isOfSession(request, cookies)) return wrongToken(answer);
  query.set("client_type", "server");
  return withoutTokens(await send(query, { refreshToken }), cookies, answer, true);
};

const logout: Route = async ({ request, query, cookies, send, answer }) => {
  // By its bearer a session ends that is not the one of the cookie.
  const isByCookie = query.get("client_type") === "web";
  const refreshToken = isByCookie ? cookies.refresh : undefined;
  if (refreshToken && !isOfSession(request, cookies)) return wrongToken(answer);
  query.set("client_type", "server");
  // The browser is signed out even if the service does not answer.
  if (isByCookie) cookies.write(null);
  const response = await send(query, { ...(refreshToken && { refreshToken }) });
  return answer(response.status, await response.text(), response.headers);
};

/** The CSRF token of the cookie, for a page that has none: the session was opened by a form, or by another app. */
const csrf: Route = async ({ cookies, answer }) =>
  cookies.refresh
    ? answer(200, { csrfToken: csrfOf(cookies.access) ?? "session" })
    : refuse(answer, 401, "AUTH_UNAUTHORIZED", "There is no session.", "Sign in.");

/** Id of the session: constant for its life, and known to pages of this origin alone. */
const csrfOf = (accessToken: string | undefined): string | undefined => accessToken && claimsOf(accessToken).sid;

/** Whether the page means the session of the cookie. Without an access token in the cookies there is nothing to compare. */
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

/** Whether a page of the app sent it. Browsers send `Origin` with every request that writes. */
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
    if (size > LARGEST_BODY) {
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
  // Behind this path an admin key would select the admin's operation.
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
  nextAction = "Check where the app mounts handleAuth, and from which origin the page calls it.",
): Response {
  return answer(statusCode, { error, message, statusCode, nextAction, nextActions: nextAction });
}

const wrongToken = (answer: Exchange["answer"]): Response =>
  refuse(answer, 403, "INVALID_CSRF_TOKEN", "The CSRF token is not that of this session.", "Ask GET api/auth/csrf for it.");
