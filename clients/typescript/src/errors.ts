// Errors as values. Retries are in sessions.ts, parsing of responses in transport.ts.
import type { Challenge, ResetToken, Schemas } from "./types.js";

/** Error codes of the service; see docs/errors.md. */
export type ServerErrorCode = Schemas["ErrorResponse"]["error"];

/** Stable reasons of an invalid input; see docs/errors.md. A newer service may add some. */
export type ErrorReason = NonNullable<Schemas["ErrorResponse"]["reasons"]>[number];

/**
 * Error codes of this library, with `statusCode` 0 except for `UNEXPECTED_RESPONSE`, `LEVEL_TOO_LOW` and `TOO_OLD`:
 * `NETWORK_ERROR`: the service was unreachable. `UNEXPECTED_RESPONSE`: something else responded, such as a proxy.
 * `STORAGE_BLOCKED`: the browser stores no data for this site, so a sign-in that leaves the page could not finish.
 * `CRYPTO_UNAVAILABLE`: the runtime has no secure random numbers (sign-in with a provider), or no WebCrypto with Ed25519
 * (token verification). `LEVEL_TOO_LOW`, `TOO_OLD`: a valid token does not meet `minLevel` or `maxAge` of
 * `verifyAccessToken`; 403. `PASSKEYS_UNAVAILABLE`: this browser, page or device cannot use passkeys.
 * `PASSKEY_CANCELLED`: the user, the app or the browser ended the request, or no passkey was chosen in time.
 */
export type ClientErrorCode =
  | "NETWORK_ERROR"
  | "UNEXPECTED_RESPONSE"
  | "STORAGE_BLOCKED"
  | "CRYPTO_UNAVAILABLE"
  | "LEVEL_TOO_LOW"
  | "TOO_OLD"
  | "PASSKEYS_UNAVAILABLE"
  | "PASSKEY_CANCELLED";

/** Codes of `error.error`. A newer service may add some. */
export type ErrorCode = ServerErrorCode | ClientErrorCode;

/** Optional parts of an error. */
export interface ErrorDetails {
  /** Suggested next action, for people. */
  nextActions?: string;
  /** Invalid body key or parameter. */
  field?: string;
  /** Violated rules, for example `too_short`. */
  reasons?: ErrorReason[];
  /** Id of the request in the service's log. */
  requestId?: string;
  /** Seconds to wait before a retry, with 429 and 503. */
  retryAfter?: number;
}

/** Parts of an error that are not enumerable, so that logs and `toJSON` lack them. */
export interface HiddenDetails {
  cause?: unknown;
  challenge?: Challenge<ResetToken>;
}

type Loose<T> = { [Key in keyof T]?: T[Key] | undefined };

/** Error of a result. It extends `Error`, so it can be thrown and logged. It never contains a secret. */
export class LatchkeyError extends Error implements ErrorDetails {
  /** HTTP status of the response; 0 without one. */
  declare readonly statusCode: number;
  /** Stable error code, for programs. */
  declare readonly error: ErrorCode;
  declare readonly nextActions?: string;
  declare readonly field?: string;
  declare readonly reasons?: ErrorReason[];
  declare readonly requestId?: string;
  declare readonly retryAfter?: number;
  /** Second factor that `resetPassword` needs, with `SECOND_FACTOR_REQUIRED`. Its answer is a new token. Not enumerable. */
  declare readonly challenge?: Challenge<ResetToken>;

  constructor(
    statusCode: number,
    error: ErrorCode,
    message: string,
    { cause, challenge, ...details }: Loose<ErrorDetails & HiddenDetails> = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    if (challenge) Object.defineProperty(this, "challenge", { value: challenge });
    // Drops undefined details.
    Object.assign(this, JSON.parse(JSON.stringify({ name: "LatchkeyError", statusCode, error, ...details })));
  }

  /** All fields; `JSON.stringify` of an `Error` would omit the message. */
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

/** Error of a call without a response. */
export const unreachable = (cause?: unknown): LatchkeyError =>
  new LatchkeyError(0, "NETWORK_ERROR", "The service could not be reached.", {
    nextActions: "Check the connection and try again.",
    cause,
  });

/** Error of a response that is not the service's. */
export const unexpected = (statusCode: number, details: Loose<ErrorDetails> = {}): LatchkeyError =>
  new LatchkeyError(statusCode, "UNEXPECTED_RESPONSE", `The response with status ${statusCode} is not from the service.`, {
    nextActions: "Check baseUrl, and any proxy between the app and the service.",
    ...details,
  });

/** Error of a call that needs a session; the same code as the service's. */
export const noSession = (): LatchkeyError =>
  new LatchkeyError(401, "AUTH_UNAUTHORIZED", "There is no session.", { nextActions: "Sign in." });
