// The objects of the service under the names of the spec; their fields come from docs/openapi.json.
import type { components } from "./generated.js";

type Schemas = components["schemas"];

/** Application data without a type of its own: any JSON object. */
export type Metadata = Record<string, unknown>;
/** User (spec 2.4). */
export interface User<M = Metadata> extends Omit<Schemas["User"], "metadata"> {
  /** Application data that only an admin writes; never null. */
  metadata: M;
}
/** Profile as its owner sees it (spec 2.1). */
export interface ProfileRecord<M = Metadata> extends Omit<Schemas["ProfileRecord"], "metadata"> {
  /** Data private to the owner; never null. */
  metadata: M;
}
/** A profile as others see it (spec 2.2). */
export type PublicProfile = Schemas["PublicProfile"];
/** The profile of the account operations (spec 2.5): custom fields stand beside the known ones. */
export type FlatProfile = Pick<
  Schemas["FlatProfile"],
  "id" | "name" | "username" | "avatar_url" | "bio" | "createdAt" | "updatedAt"
> & { [custom: string]: unknown };
/** The same as it travels, with a nested copy for older clients. */
export type WireProfile = FlatProfile & { profile?: unknown };
/** The public settings of the service. */
export type PublicConfig = Schemas["PublicConfig"];
/** One of one's own sessions. */
export type OwnSession = Schemas["OwnSessions"]["sessions"][number];
/** Changes for `profiles.update`; a key that is left out stays as it is. */
export interface ProfileUpdate<M = Metadata> extends Omit<Schemas["UpdateProfileRequest"], "metadata"> {
  /** Replaces the whole object. */
  metadata?: M;
}
/** What an operation answers that only causes a mail. */
export type MailSent = Schemas["MailSent"];
/** A sentence for people. */
export type Message = Schemas["Message"];
/** The token that a reset code is exchanged for. */
export type ResetToken = Schemas["ResetToken"];
/** How many sessions were ended. */
export type EndedSessions = Schemas["EndedSessions"];
/** The keys that access tokens are signed with (RFC 7517). */
export type JwkSet = Schemas["JwkSet"];

/** An identity at a provider that is linked to the user. */
export interface Identity {
  provider: string;
  /** The user's id at the provider. */
  subject: string;
  /** The address that the provider told when it was linked. */
  email: string | null;
  /** When it was linked. */
  createdAt: string;
}

/** The user after an identity was unlinked. */
export interface Unlinked<M = Metadata> {
  message: string;
  user: User<M>;
}

/** A session (spec 2.6). */
export interface Session<M = Metadata> {
  accessToken: string;
  user: User<M>;
  /** When the access token ends, by the clock of the service. */
  expiresAt?: Date;
  /** For clients of the types `mobile` and `desktop`, to be kept for the next start: each refresh makes a new one. */
  refreshToken?: string;
}

/** What opening a session answers; `refreshToken` for clients other than `web`, which get `csrfToken`. */
export interface SignedIn<M = Metadata> {
  user: User<M>;
  accessToken: string;
  csrfToken?: string | null;
  refreshToken?: string;
}

/** What a sign-up answers: a session, or that the address has to be verified first. */
export type SignedUp<M = Metadata> =
  | (SignedIn<M> & { requireEmailVerification?: false })
  | { user?: User<M>; accessToken: null; requireEmailVerification: true; csrfToken?: null };

/** What a refresh answers. */
export type Refreshed<M = Metadata> = SignedIn<M> & { expiresAt: Date };

/** The answer of the service that opens or renews a session. */
export interface SessionAnswer {
  user?: User;
  accessToken?: string | null;
  csrfToken?: string | null;
  refreshToken?: string;
  expiresAt?: string;
}
