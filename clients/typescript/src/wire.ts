// Responses of the service that the client does not pass on as they are.
import type { FlatProfile, User } from "./types.js";

/** Flat profile on the wire, with a nested copy for older clients. */
export type WireProfile = FlatProfile & { profile?: unknown };
/** Response of the service that opens or renews a session. */
export interface SessionAnswer {
  user?: User;
  accessToken?: string | null;
  csrfToken?: string | null;
  refreshToken?: string;
  expiresAt?: string;
}
