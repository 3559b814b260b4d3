// Errors as values. Not here: which calls are repeated (sessions.ts) and how an answer is read (transport.ts).
import type { components } from "./generated.js";

/** The codes that the service answers with; the table is in docs/errors.md. */
export type ServerErrorCode = components["schemas"]["ErrorResponse"]["error"];

/** Stable words for the rules that an input failed; the list is in docs/errors.md. A newer service may know more. */
export type ErrorReason = NonNullable<components["schemas"]["ErrorResponse"]["reasons"]>[number];

/**
 * The codes that this library adds: the service was not reached (`NETWORK_ERROR`, `statusCode` 0); something else
 * answered, a proxy for example (`UNEXPECTED_RESPONSE`); the browser keeps no data for this site, so that a sign-in that
 * leaves the page could not be finished (`STORAGE_BLOCKED`, `statusCode` 0); the runtime has no secure random numbers
 * for a sign-in with a provider, or no WebCrypto with Ed25519 to check a token (`CRYPTO_UNAVAILABLE`, `statusCode` 0).
 */
export type ClientErrorCode = "NETWORK_ERROR" | "UNEXPECTED_RESPONSE" | "STORAGE_BLOCKED" | "CRYPTO_UNAVAILABLE";

/** Every code of `error.error`. A newer service may know more of them. */
export type ErrorCode = ServerErrorCode | ClientErrorCode;

/** Parts of an error that not every error has. */
export interface ErrorDetails {
  /** Next action of the caller, for people. */
  nextActions?: string;
  /** Body key or parameter that is wrong. */
  field?: string;
  /** Failed rules, for example `too_short`. */
  reasons?: ErrorReason[];
  /** Id of the request in the log of the service. */
  requestId?: string;
  /** Seconds to wait before the next try, with 429 and 503. */
  retryAfter?: number;
}

type Loose<T> = { [Key in keyof T]?: T[Key] | undefined };

/** The `error` of a result. It is an `Error`, so that it may be thrown and logged. It never holds a secret. */
export class LatchkeyError extends Error implements ErrorDetails {
  /** HTTP status of the answer; 0 without one. */
  declare readonly statusCode: number;
  /** Code, for programs. Stable. */
  declare readonly error: ErrorCode;
  declare readonly nextActions?: string;
  declare readonly field?: string;
  declare readonly reasons?: ErrorReason[];
  declare readonly requestId?: string;
  declare readonly retryAfter?: number;

  constructor(
    statusCode: number,
    error: ErrorCode,
    message: string,
    { cause, ...details }: Loose<ErrorDetails> & { cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    // Details that are undefined are left out.
    Object.assign(this, JSON.parse(JSON.stringify({ name: "LatchkeyError", statusCode, error, ...details })));
  }

  /** All fields; JSON of an `Error` would leave out the message. */
  toJSON(): { statusCode: number; error: ErrorCode; message: string } & ErrorDetails {
    const { name: _, ...fields } = this as LatchkeyError;
    return { ...fields, message: this.message };
  }
}

/** Result of every call: `data` is null if `error` is set, and `error` is null on success. */
export type Result<T> = { data: T; error: null } | { data: null; error: LatchkeyError };

/** Successful result. */
export const success = <T>(data: T): { data: T; error: null } => ({ data, error: null });

/** Failed result. */
export const failure = (error: LatchkeyError): { data: null; error: LatchkeyError } => ({ data: null, error });

/** Error of a call without an answer. */
export const unreachable = (cause?: unknown): LatchkeyError =>
  new LatchkeyError(0, "NETWORK_ERROR", "The service could not be reached.", {
    nextActions: "Check the connection and try again.",
    cause,
  });

/** Error for an answer that is not the service's. */
export const unexpected = (statusCode: number, details: Loose<ErrorDetails> = {}): LatchkeyError =>
  new LatchkeyError(statusCode, "UNEXPECTED_RESPONSE", `The answer with status ${statusCode} is not one of the service.`, {
    nextActions: "Check baseUrl, and what stands between the app and the service.",
    ...details,
  });

/** Error of a call that needs a session; the same code as the service's. */
export const noSession = (): LatchkeyError =>
  new LatchkeyError(401, "AUTH_UNAUTHORIZED", "There is no session.", { nextActions: "Sign in." });
