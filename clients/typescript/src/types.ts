// Objects of the service under the names of the spec; their fields are generated from docs/openapi.json.
import type { components } from "./generated.js";

type Schemas = components["schemas"];

/** Untyped application data: any JSON object. */
export type Metadata = Record<string, unknown>;
/** User (spec 2.4). */
export interface User<M = Metadata> extends Omit<Schemas["User"], "metadata"> {
  /** Application data, writable by admins only; never null. */
  metadata: M;
}
/** Profile as visible to its owner (spec 2.1). */
export interface ProfileRecord<M = Metadata> extends Omit<Schemas["ProfileRecord"], "metadata"> {
  /** Data private to the owner; never null. */
  metadata: M;
}
/** Public profile (spec 2.2). */
export type PublicProfile = Schemas["PublicProfile"];
/** Flat profile of the account operations (spec 2.5), with custom fields at the top level. */
export type FlatProfile = Pick<
  Schemas["FlatProfile"],
  "id" | "name" | "username" | "avatar_url" | "bio" | "createdAt" | "updatedAt"
> & { [custom: string]: unknown };
/** Flat profile on the wire, with a nested copy for older clients. */
export type WireProfile = FlatProfile & { profile?: unknown };
/** Public settings of the service. */
export type PublicConfig = Schemas["PublicConfig"];
/** Session in the list of own sessions. */
export type OwnSession = Schemas["OwnSessions"]["sessions"][number];
/** Input of `profiles.update`; omitted keys stay unchanged. */
export interface ProfileUpdate<M = Metadata> extends Omit<Schemas["UpdateProfileRequest"], "metadata"> {
  /** Replaces the whole object. */
  metadata?: M;
}
/** Response of operations that only send a mail. */
export type MailSent = Schemas["MailSent"];
/** Response with a message for people. */
export type Message = Schemas["Message"];
/** Reset token from the exchange of a reset code. */
export type ResetToken = Schemas["ResetToken"];
/** Number of ended sessions. */
export type EndedSessions = Schemas["EndedSessions"];
/** JWK set of the signing keys (RFC 7517). */
export type JwkSet = Schemas["JwkSet"];

/** Linked identity of a provider. */
export interface Identity {
  provider: string;
  /** User id at the provider. */
  subject: string;
  /** Email address given by the provider at linking. */
  email: string | null;
  /** Time of linking. */
  createdAt: string;
}

/** Response of `unlinkIdentity`, with the updated user. */
export interface Unlinked<M = Metadata> {
  message: string;
  user: User<M>;
}

/** Session (spec 2.6). */
export interface Session<M = Metadata> {
  accessToken: string;
  user: User<M>;
  /** Expiry of the access token, by the clock of the service. */
  expiresAt?: Date;
  /** Refresh token for `mobile` and `desktop` clients; store it for the next start. Each refresh replaces it. */
  refreshToken?: string;
}

/** Response with a new session; `refreshToken` for clients other than `web`, which get `csrfToken`. */
export interface SignedIn<M = Metadata> {
  user: User<M>;
  accessToken: string;
  csrfToken?: string | null;
  refreshToken?: string;
}

/** Response of a sign-up: a session, or required verification. */
export type SignedUp<M = Metadata> =
  | (SignedIn<M> & { requireEmailVerification?: false })
  | { user?: User<M>; accessToken: null; requireEmailVerification: true; csrfToken?: null };

/** Response of a refresh. */
export type Refreshed<M = Metadata> = SignedIn<M> & { expiresAt: Date };

/** Response of the service that opens or renews a session. */
export interface SessionAnswer {
  user?: User;
  accessToken?: string | null;
  csrfToken?: string | null;
  refreshToken?: string;
  expiresAt?: string;
}
