// What went wrong, as a value. Not here: when a call is repeated (session.ts) and how an answer is read
// (transport.ts).
import type { components } from "./generated.js";

/** The codes that the service answers with; the table is in docs/errors.md. */
export type ServerErrorCode = components["schemas"]["ErrorResponse"]["error"];

/**
 * The codes that this library adds: the service was not reached (`NETWORK_ERROR`, `statusCode` 0); something that
 * is not the service answered, a proxy for example (`UNEXPECTED_RESPONSE`); the browser keeps no data for this
 * site, so that a sign-in that leaves the page could not be finished (`STORAGE_BLOCKED`, `statusCode` 0); there is no
 * WebCrypto, as on pages without https, or it lacks Ed25519 (`CRYPTO_UNAVAILABLE`, `statusCode` 0).
 */
export type ClientErrorCode = "NETWORK_ERROR" | "UNEXPECTED_RESPONSE" | "STORAGE_BLOCKED" | "CRYPTO_UNAVAILABLE";

/** Every code that `error.error` can have. A newer service may know more of them. */
export type ErrorCode = ServerErrorCode | ClientErrorCode;

/** The `error` of a result. An `Error`, so that it may be thrown and logged; it never holds a secret. */
export class LatchkeyError extends Error {
  /** The HTTP status of the answer; 0 where there was none. */
  readonly statusCode: number;
  /** The code, for programs. Stable. */
  readonly error: ErrorCode;
  /** What the caller can do, for people. */
  readonly nextActions?: string;
  /** Seconds to wait before the call is made again, with 429 and 503. */
  readonly retryAfter?: number;

  constructor(
    statusCode: number,
    error: ErrorCode,
    message: string,
    more: { nextActions?: string | undefined; retryAfter?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, "cause" in more ? { cause: more.cause } : undefined);
    this.name = "LatchkeyError";
    this.statusCode = statusCode;
    this.error = error;
    if (more.nextActions !== undefined) this.nextActions = more.nextActions;
    if (more.retryAfter !== undefined) this.retryAfter = more.retryAfter;
  }

  /** The fields, message included, which an `Error` would leave out. */
  toJSON(): { statusCode: number; error: ErrorCode; message: string; nextActions?: string; retryAfter?: number } {
    const { statusCode, error, message, nextActions, retryAfter } = this;
    return {
      statusCode,
      error,
      message,
      ...(nextActions !== undefined && { nextActions }),
      ...(retryAfter !== undefined && { retryAfter }),
    };
  }
}

/** What every call returns: `data` is null when `error` is set, and `error` is null on success. */
export type Result<T> = { data: T; error: null } | { data: null; error: LatchkeyError };

/** A result that went well. */
export const success = <T>(data: T): { data: T; error: null } => ({ data, error: null });

/** A result that did not. */
export const failure = (error: LatchkeyError): { data: null; error: LatchkeyError } => ({ data: null, error });

/** Something that is not the service answered. */
export const unexpected = (statusCode: number, retryAfter?: number): LatchkeyError =>
  new LatchkeyError(statusCode, "UNEXPECTED_RESPONSE", `The answer with status ${statusCode} is not one of the service.`, {
    nextActions: "Check baseUrl, and what stands between the app and the service.",
    retryAfter,
  });

/** There is no WebCrypto, or not all of it. */
export const cryptoUnavailable = (): LatchkeyError =>
  new LatchkeyError(0, "CRYPTO_UNAVAILABLE", "The cryptography that this needs is not there.", {
    nextActions: "Serve the page over https or from localhost; elsewhere take a runtime whose WebCrypto has Ed25519.",
  });

/** There is no session where one is needed; the same code as the service's. */
export const noSession = (): LatchkeyError =>
  new LatchkeyError(401, "AUTH_UNAUTHORIZED", "There is no session.", { nextActions: "Sign in." });
