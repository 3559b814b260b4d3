// One request and its response. Sessions and retries are in sessions.ts.
import { failure, LatchkeyError, type Result, success, unexpected, unreachable } from "./errors.js";
import type { Settings } from "./options.js";
import type { Challenge, ResetToken, Schemas } from "./types.js";

/** Request of an operation. */
export interface Request {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  /** Query parameters; undefined ones are omitted. */
  query?: Record<string, string | number | undefined>;
  body?: object;
  headers?: Record<string, string>;
  /** Access token; default is the anonymous key. */
  bearer?: string | undefined;
  /** Lets the request outlive its page. */
  keepalive?: true;
}

/** Result with the response headers. */
export type Answer<T> = Result<T> & { headers: Headers };

/** HTTP transport to one service. Expected errors are results; nothing is thrown. */
export interface Transport {
  /** Sends a request and parses its JSON response. */
  send<T>(request: Request): Promise<Answer<T>>;
}

/** Transport of one client. */
export const createTransport = (settings: Settings): Transport => ({
  async send<T>(request: Request): Promise<Answer<T>> {
    let response: Response;
    let body: unknown;
    // `AbortSignal.timeout` is missing in React Native and older browsers.
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), settings.timeout);
    try {
      const init = { ...initOf(settings, request), signal: controller.signal };
      response = await settings.fetch(settings.baseUrl + request.path + queryOf(request), init);
      body = parsed(await response.text());
    } catch (cause) {
      // Also mistakes of the app: an unknown origin, an invalid header or body.
      return { ...failure(unreachable(cause)), headers: new Headers() };
    } finally {
      clearTimeout(timer);
    }
    const { headers } = response;
    const isObject = typeof body === "object" && body !== null;
    if (response.ok && isObject) return { ...success(body as T), headers };
    return { ...failure(refusal(response, isObject ? (body as object) : {})), headers };
  },
});

/** Query string. `URLSearchParams` of React Native accepts no list of pairs. */
const queryOf = ({ query }: Request): string =>
  Object.entries(query ?? {})
    .filter(([, value]) => value !== undefined)
    .map((pair, index) => (index ? "&" : "?") + pair.map((text) => encodeURIComponent(text as string)).join("="))
    .join("");

const initOf = (
  settings: Settings,
  { method, body, headers, bearer = settings.anonKey, keepalive }: Request,
): RequestInit => ({
  method,
  headers: {
    ...settings.headers,
    ...(bearer && { authorization: `Bearer ${bearer}` }),
    ...(body && { "content-type": "application/json" }),
    ...headers,
  },
  ...(body && { body: JSON.stringify(body) }),
  // Omitted otherwise: some workers refuse these keys.
  ...(keepalive && { keepalive }),
  ...(settings.clientType === "web" && { credentials: "include" as const }),
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Error response, with the challenge of a password reset. */
type ErrorBody = Partial<Schemas["ErrorResponse"]> & { challenge?: Challenge<ResetToken> };

/** Error of a response: the service's own, or `UNEXPECTED_RESPONSE` for any other. */
function refusal(
  { status, headers }: Response,
  { error, message, nextAction, nextActions = nextAction, field, reasons, requestId, challenge }: ErrorBody,
): LatchkeyError {
  const seconds = Number.parseInt(headers.get("retry-after") ?? "", 10);
  const retryAfter = seconds >= 0 ? seconds : undefined;
  const more = { retryAfter, requestId: requestId ?? headers.get("x-request-id") ?? undefined };
  if (typeof error !== "string" || typeof message !== "string") return unexpected(status, more);
  return new LatchkeyError(status, error, message, { nextActions, field, reasons, challenge, ...more });
}
