// One request and its answer. Not here: sessions, and repeated requests.
import type { components } from "./generated.js";
import { failure, LatchkeyError, type Result, success, unexpected, unreachable } from "./errors.js";
import type { Settings } from "./options.js";

/** Request of an operation. */
export interface Request {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  /** Parameters; those that are undefined are left out. */
  query?: Record<string, string | number | undefined>;
  body?: object;
  headers?: Record<string, string>;
  /** Access token; without one the anonymous key is sent. */
  bearer?: string | undefined;
  /** The request outlives its page. */
  keepalive?: true;
}

/** Result with the headers of the answer. */
export type Answer<T> = Result<T> & { headers: Headers };

/** Sends requests to one service. Expected failures are results; nothing is thrown. */
export interface Transport {
  /** Sends a request and reads its JSON. */
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
      // Also a mistake of the app: an origin that the service does not know, a header or body that cannot be sent.
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

/** Query of a request. `URLSearchParams` of React Native takes no list of pairs. */
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
  // Left out otherwise: some workers refuse the keys.
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

/** Error of an answer: the service's own, or `UNEXPECTED_RESPONSE` for an answer of something else. */
function refusal(
  { status, headers }: Response,
  { error, message, nextAction, nextActions = nextAction, field, reasons, requestId }: Partial<components["schemas"]["ErrorResponse"]>,
): LatchkeyError {
  const seconds = Number.parseInt(headers.get("retry-after") ?? "", 10);
  const retryAfter = seconds >= 0 ? seconds : undefined;
  const more = { retryAfter, requestId: requestId ?? headers.get("x-request-id") ?? undefined };
  if (typeof error !== "string" || typeof message !== "string") return unexpected(status, more);
  return new LatchkeyError(status, error, message, { nextActions, field, reasons, ...more });
}
