// Calls of the operations in account.ts and self-service.ts.
import type { claimsOf } from "./claims.js";
import type { Result, unexpected } from "./errors.js";
import type { OAuth } from "./oauth.js";
import type { Settings } from "./options.js";
import type { AuthEvent, hold } from "./session-store.js";
import type { Sessions } from "./sessions.js";
import type { Request, Transport } from "./transport.js";
import type { Challenge, Reauthenticated } from "./types.js";
import type { SessionAnswer } from "./wire.js";

/** Parts of a client, and functions of the core, that the operations use. */
export interface AccountParts {
  settings: Settings;
  transport: Transport;
  sessions: Sessions;
  oauth: OAuth;
  /** `onReauthenticationRequired` of the app. */
  ask?: ((challenge: Challenge<Reauthenticated>) => Promise<unknown>) | undefined;
  claimsOf: typeof claimsOf;
  hold: typeof hold;
  unexpected: typeof unexpected;
}

/** Path below `/api/auth/` with an id as its last segment. */
export const at = (path: string, id: string): string => `/api/auth/${path}/${encodeURIComponent(id)}`;

/** Sends a call of the user. */
export async function send<T>({ sessions }: AccountParts, method: Request["method"], path: string, more?: Partial<Request>): Promise<Result<T>> {
  return plain(await sessions.send<T>({ method, path, ...more }));
}

/** Sends a call without a session. */
export async function post<T>({ transport }: AccountParts, path: string, body: object): Promise<Result<T>> {
  return plain(await transport.send<T>({ method: "POST", path, body }));
}

/** Result without the response headers. */
export const plain = <T>({ data, error }: Result<T>): Result<T> => (error ? { data: null, error } : { data: data as T, error: null });

/** Continues the session with another access token; not if another user signed in meanwhile. */
export function replaceToken({ sessions: { store }, claimsOf, hold }: AccountParts, event: AuthEvent, data: SessionAnswer): void {
  const { current } = store;
  if (!current || claimsOf(current.accessToken).sid !== claimsOf(data.accessToken ?? "").sid) return;
  const { refreshToken, csrfToken } = current;
  store.take(event, { ...hold(data), ...(refreshToken && { refreshToken }), ...(csrfToken && { csrfToken }) });
}
