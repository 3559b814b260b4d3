// Objects of the service under the names of the spec; their fields are generated from docs/openapi.json. All are public.
import type { components } from "./generated.js";

/** All objects of docs/openapi.json, under their names there: those of the admin calls too. */
export type Schemas = components["schemas"];

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
/** Public settings of the service. */
export type PublicConfig = Schemas["PublicConfig"];
/** Session in the list of own sessions. */
export type OwnSession = Required<Schemas["OwnSession"]>;
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

/** Kind of an answer to a challenge. A newer service may add some. */
export type ChallengeKind = Schemas["Challenge"]["kinds"][number];

/**
 * Question for a second factor, or for the first one again. Its id is a secret: keep it in memory, do not log it.
 * `Outcome` is the type of `data` of the right answer.
 */
export interface Challenge<Outcome = unknown> extends Omit<Schemas["Challenge"], "kinds"> {
  /** Accepted kinds of answers, strongest first. */
  kinds: ChallengeKind[];
  /** Exists only in types. */
  readonly "~outcome"?: Outcome;
}

/** Response of a sign-in that needs a second factor: no session yet. */
export interface Challenged<M = Metadata> {
  challenge: Challenge<Entrance<M>>;
  user?: undefined;
  accessToken?: undefined;
  csrfToken?: undefined;
  refreshToken?: undefined;
  requireEmailVerification?: undefined;
}

/** Response of every sign-in: a session, or a challenge. */
export type Entrance<M = Metadata> = SignedIn<M> | Challenged<M>;

/** Response with a new session; `refreshToken` for clients other than `web`, which get `csrfToken`. */
export interface SignedIn<M = Metadata> {
  user: User<M>;
  accessToken: string;
  csrfToken?: string | null;
  refreshToken?: string;
  challenge?: undefined;
}

/** Response of a sign-up: a session, required verification, or (where two-step sign-in is required) a challenge. */
export type SignedUp<M = Metadata> =
  | (SignedIn<M> & { requireEmailVerification?: false })
  | { user?: User<M>; accessToken: null; requireEmailVerification: true; csrfToken?: null; challenge?: undefined }
  | Challenged<M>;

/** Response to the right answer of a `reauthenticate` challenge: the same session with a fresh access token. */
export interface Reauthenticated<M = Metadata> {
  user: User<M>;
  accessToken: string;
  expiresAt: string;
}

/** Own account: its factors, and whether the current token is fresh. */
export interface Account<M = Metadata> extends Omit<Schemas["Account"], "user"> {
  user: User<M>;
}

/** Response of `changeEmail`, the same for free and taken addresses. `needs`: the addresses to which a code was mailed. */
export type BegunEmailChange = Schemas["BegunEmailChange"];

/** Response of `confirmEmailChange`: the user with the new address, or the addresses whose codes are still missing. */
export type ConfirmedEmailChange<M = Metadata> =
  | { needs: Schemas["EmailChangeNeeds"]["needs"]; user?: undefined; accessToken?: undefined }
  | { user: User<M>; accessToken: string; needs?: undefined };

/** Response of `deleteAccount`. Until `deletesAt` a sign-in has a challenge of kind `restore`. */
export type AccountInDeletion = Schemas["AccountInDeletion"];

/** What the service stores about the user. */
export interface AccountExport<M = Metadata> extends Omit<Schemas["AccountExport"], "account"> {
  account: Account<M>;
}

/** Security event of the own account, such as a sign-in. */
export type OwnEvent = Schemas["OwnEvent"];

/** Page of events, newest first. `nextBefore`: the `before` of the next page; null on the last one. */
export type OwnEvents = Schemas["OwnEvents"];

/** Authenticator app of the user. */
export type TotpFactor = Schemas["TotpFactor"];

/** Authenticator app in enrolment. The secret is shown here and never again. */
export type BegunTotp = Schemas["BegunTotp"];

/** Response of `totp.confirm`. If two-step sign-in was off, it is on now, in a new session. */
export type ConfirmedTotp<M = Metadata> =
  | { factor: TotpFactor; recoveryCodes?: undefined; user?: undefined; accessToken?: undefined }
  | (SignedIn<M> & { factor: TotpFactor; recoveryCodes: string[] });

/** Response of `setTwoStep`. If it was turned on: recovery codes, and a new session. */
export type TwoStepSet<M = Metadata> =
  | { message: string; recoveryCodes?: undefined; user?: undefined; accessToken?: undefined }
  | (SignedIn<M> & { recoveryCodes: string[] });

/** Passkey of the user. */
export type Passkey = Schemas["Passkey"];

/** Passkeys of the user, oldest first, and what the browser tells the app or device that stores them. */
export type OwnPasskeys = Schemas["OwnPasskeys"];

/** Response of `passkeys.remove`. */
export type RemovedPasskey = Schemas["RemovedPasskey"];

/** Response of `passkeys.register`. With the challenge of a sign-in: the session, with two-step sign-in turned on. */
export type RegisteredPasskey<M = Metadata> =
  | { passkey: Passkey; recoveryCodes?: undefined; user?: undefined; accessToken?: undefined }
  | (SignedIn<M> & { passkey: Passkey; recoveryCodes: string[] });

/** Response of a refresh. */
export type Refreshed<M = Metadata> = SignedIn<M> & { expiresAt: Date };
