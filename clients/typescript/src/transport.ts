// One request and its answer. Not here: sessions, and what is repeated.
import type { components } from "./generated.js";
import { failure, LatchkeyError, type Result, success, unexpected } from "./errors.js";
import type { Settings } from "./options.js";

/** A request, as the operations say it. */
export interface Request {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  /** Parameters; those that are undefined are left out. */
  query?: Record<string, string | number | undefined>;
  body?: object;
  headers?: Record<string, string>;
  /** The access token; the anonymous key goes where there is none. */
  bearer?: string | undefined;
}

/** A result with the headers of the answer. */
export type Answer<T> = Result<T> & { headers: Headers };

/** Sends requests to one service. Expected failures are results; nothing is thrown. */
export class Transport {
  constructor(private readonly settings: Settings) {}

  /** Sends a request and reads its JSON. */
  async send<T>(request: Request): Promise<Answer<T>> {
    let response: Response;
    let body: unknown;
    try {
      response = await this.settings.fetch(this.address(request), this.init(request));
      body = parsed(await response.text());
    } catch (cause) {
      // Also what the app did wrong: an origin that the service does not know, a header or body that cannot be sent.
      const error = new LatchkeyError(0, "NETWORK_ERROR", "The service could not be reached.", {
        nextActions: "Check the connection and try again.",
        cause,
      });
      return { ...failure(error), headers: new Headers() };
    }
    const { headers } = response;
    const isObject = typeof body === "object" && body !== null;
    if (response.ok && isObject) return { ...success(body as T), headers };
    return { ...failure(refusal(response, isObject ? body as object : {})), headers };
  }

  private address(request: Request): string {
    const given = Object.entries(request.query ?? {}).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
    return this.settings.baseUrl + request.path + (query && `?${query}`);
  }

  private init({ method, body, headers, bearer = this.settings.anonKey }: Request): RequestInit {
    return {
      method,
      headers: {
        ...this.settings.headers,
        ...(bearer && { authorization: `Bearer ${bearer}` }),
        ...(body && { "content-type": "application/json" }),
        ...headers,
      },
      signal: AbortSignal.timeout(this.settings.timeout),
      ...(body && { body: JSON.stringify(body) }),
      // Left out otherwise: some workers refuse the key.
      ...(this.settings.clientType === "web" && { credentials: "include" as const }),
    };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error of an answer: the service's own where it is one, else what can be said of a stranger's. */
function refusal(response: Response, body: Partial<components["schemas"]["ErrorResponse"]>): LatchkeyError {
  const seconds = Number.parseInt(response.headers.get("retry-after") ?? "", 10);
  const retryAfter = Number.isNaN(seconds) ? undefined : seconds;
  if (typeof body.error === "string" && typeof body.message === "string") {
    const nextActions = body.nextActions ?? body.nextAction;
    return new LatchkeyError(response.status, body.error, body.message, { nextActions, retryAfter });
  }
  return unexpected(response.status, retryAfter);
}
