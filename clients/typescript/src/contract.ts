// The public interfaces of a client: what an app may call, and what a fake of `@latchkey/client/testing` offers too.
// Not here: how a call is made (auth.ts, profiles.ts).
import type { VerifiedToken, VerifyOptions } from "./access-token.js";
import type { LatchkeyError, Result } from "./errors.js";
import type { OAuthInput, OAuthStart } from "./oauth.js";
import type { RedirectResult } from "./redirect.js";
import type { AuthEvent } from "./session-store.js";
import type { SignOutInput } from "./sessions.js";
import type { SignedOut } from "./sign-out.js";
import type {
  EndedSessions,
  FlatProfile,
  Identity,
  MailSent,
  Message,
  Metadata,
  OwnSession,
  ProfileRecord,
  ProfileUpdate,
  PublicConfig,
  PublicProfile,
  Refreshed,
  ResetToken,
  Session,
  SignedIn,
  SignedUp,
  Unlinked,
  User,
} from "./types.js";

/** Types of an app's own data: `createClient<{ metadata: { plan: string } }>(…)`. */
export interface AppTypes {
  /** `metadata` of the user, which admins write. */
  metadata?: object;
  /** `metadata` of the own profile, which the user writes. */
  profileMetadata?: object;
}

/** Type of `user.metadata`: any JSON object unless the app names one. */
export type UserMetadata<Types> = Types extends { metadata: infer Own } ? Own : Metadata;
/** Type of `metadata` in the own profile: any JSON object unless the app names one. */
export type ProfileMetadata<Types> = Types extends { profileMetadata: infer Own } ? Own : Metadata;

/** Client of one service, for one user at a time. Its methods need no `this`. */
export interface LatchkeyClient<Types extends AppTypes = AppTypes> {
  /** Accounts and sessions. */
  readonly auth: Auth<UserMetadata<Types>>;
  /** Profiles. */
  readonly profiles: Profiles<ProfileMetadata<Types>>;
  /**
   * Takes over the session that a server rendered the page with, unless the client has one. Sends no request.
   * `LatchkeyProvider` calls it with its `initialSession`.
   */
  hydrate(session: Session<UserMetadata<Types>> | null): void;
  /** Stops timers and listeners; for clients that do not live as long as the page. */
  close(): void;
}

/** Redirect target of the older variant. */
export interface OlderRedirect {
  emailRedirectTo?: string;
}

/** Input of `signUp`. */
export interface SignUpInput {
  email: string;
  password: string;
  name?: string;
  /** Target of the emailed link; required if addresses are verified by link. */
  redirectTo?: string;
  /** Older variant. */
  options?: OlderRedirect;
}

/** Input of `signInWithPassword`. */
export interface Credentials {
  email: string;
  password: string;
}

/** Input of the operations that send a mail; `options` at `resendVerificationEmail` alone. */
export interface SendMailInput {
  email: string;
  redirectTo?: string;
  /** Older variant. */
  options?: OlderRedirect;
}

/** Input of `signInWithIdToken`. */
export interface IdTokenInput {
  provider: string;
  /** The id token (OpenID Connect). */
  token: string;
  /** The nonce that the app gave to the provider, if the token has one. */
  nonce?: string;
  /** The name, if the provider tells it to the app alone. */
  name?: string;
}

/** Listener of `onAuthStateChange`. */
export type AuthListener<M = Metadata> = (event: AuthEvent, session: Session<M> | null, error: LatchkeyError | null) => void;

/** Account operations. Expected failures are returned as `error`; nothing is thrown. */
export interface Auth<M = Metadata> {
  /** Creates an account. The session opens at once, unless the address must be verified first. */
  signUp(input: SignUpInput): Promise<Result<SignedUp<M>>>;
  /** Opens a session by email and password. */
  signInWithPassword(input: Credentials): Promise<Result<SignedIn<M>>>;
  /** Goes to an identity provider; with `skipBrowserRedirect` it only returns the address. */
  signInWithOAuth(input: OAuthInput): Promise<Result<OAuthStart>>;
  /** The same with the provider as the first argument. */
  signInWithOAuth(provider: string, input?: Omit<OAuthInput, "provider">): Promise<Result<OAuthStart>>;
  /** Opens a session by the code of a provider's return. Pages do it by themselves. */
  exchangeOAuthCode(code: string, codeVerifier?: string): Promise<Result<SignedIn<M>>>;
  /** Opens a session by the id token that a provider gave to a native app. */
  signInWithIdToken(input: IdTokenInput): Promise<Result<SignedIn<M>>>;
  /** Goes to an identity provider and links the identity to the signed-in user. */
  linkIdentity(input: OAuthInput): Promise<Result<OAuthStart>>;
  /** Lists the identities that the user can sign in with. */
  listIdentities(): Promise<Result<{ identities: Identity[] }>>;
  /** Unlinks the identities of a provider, or the one with this subject. The last way to sign in stays. */
  unlinkIdentity(input: { provider: string; subject?: string }): Promise<Result<Unlinked<M>>>;
  /**
   * Ends the session, in the browser at once and then at the service; with `scope` the other sessions of the user instead,
   * or too. `pending`: the service was not reached, and is told as soon as it can be.
   */
  signOut(options?: SignOutInput): Promise<SignedOut>;
  /** Returns the user, or null. A page refreshes its session through the cookie first. */
  getCurrentUser(): Promise<Result<{ user: User<M> | null }>>;
  /** Returns the session, or null (older variant). */
  getCurrentSession(): Promise<Result<{ session: Session<M> | null }>>;
  /** Refreshes now; in server mode with the refresh token that you hold. */
  refreshSession(options?: { refreshToken?: string }): Promise<Result<Refreshed<M>>>;
  /** Returns the public profile of a user, custom fields included. */
  getProfile(userId: string): Promise<Result<FlatProfile>>;
  /** Changes the profile of the user, merged shallowly; `null` deletes a custom field. Also as `{ profile }`. */
  setProfile(profile: Record<string, unknown>): Promise<Result<FlatProfile>>;
  /** Sends the verification mail again. The answer is the same for every address. */
  resendVerificationEmail(input: SendMailInput): Promise<Result<MailSent>>;
  /** Verifies an address by code, or (older variant) by the token of a link alone, and signs in. */
  verifyEmail(input: { email?: string; otp: string }): Promise<Result<SignedIn<M>>>;
  /** Sends the code or link for a new password. The answer is the same for every address. */
  sendResetPasswordEmail(input: Omit<SendMailInput, "options">): Promise<Result<MailSent>>;
  /** Exchanges a reset code for a reset token, if passwords are reset by code. */
  exchangeResetPasswordToken(input: { email: string; code: string }): Promise<Result<ResetToken>>;
  /** Sets a new password; `otp` is the token of the exchange or of the link. Every session ends, in this browser too. */
  resetPassword(input: { newPassword: string; otp: string }): Promise<Result<Message>>;
  /** Sets a new password for the signed-in user. The other sessions end. */
  changePassword(input: { currentPassword: string; newPassword: string }): Promise<Result<Message>>;
  /** Lists the sessions of the signed-in user. */
  listSessions(): Promise<Result<{ sessions: OwnSession[] }>>;
  /** Ends one of them; the own one is a sign-out. */
  endSession(id: string): Promise<Result<EndedSessions>>;
  /** Ends all of them but this one. */
  endOtherSessions(): Promise<Result<EndedSessions>>;
  /** Returns the public settings: providers, the method of verification, the password rules. */
  getPublicConfig(): Promise<Result<PublicConfig>>;
  /**
   * Outcome of the emailed link or the provider's return that led to this page (spec 4.3), or null. It is returned again
   * until a password is set or a user signs in. The exchange of a code takes a moment: its failure is known with
   * `INITIAL_SESSION`.
   */
  getRedirectResult(): RedirectResult | null;
  /**
   * Calls back with `INITIAL_SESSION` first, then with every change, in other tabs too. The returned function stops it.
   * `error` comes with an `INITIAL_SESSION` of which nothing is known yet (no network, no answer within three seconds):
   * show neither a sign-in form nor a user; a later event says who is there.
   */
  onAuthStateChange(callback: AuthListener<M>): () => void;
  /** Checks an access token against the keys of this service. The code for it is loaded on the first call. */
  verifyAccessToken(token: string, options?: Omit<VerifyOptions, "baseUrl">): Promise<Result<VerifiedToken>>;
}

/** Input of `profiles.search`. */
export interface SearchInput {
  /** Text to find in names, usernames and bios. */
  q: string;
  /** 1 to 100; the service takes 20 by default. */
  limit?: number;
  /** Number of matches to skip. */
  offset?: number;
}

/** One page of matches. */
export interface SearchPage {
  profiles: PublicProfile[];
  /** Number of all matches. Like the two below it is `NaN` if a proxy dropped the header. */
  total: number;
  /** Number of this page, from 1. */
  page: number;
  /** The limit that was used. */
  pageSize: number;
}

/** The own profile, and the version that `update` takes as `ifMatch`. */
export type OwnProfile<M = Metadata> = Result<ProfileRecord<M>> & { etag: string | null };

/** Profile operations. */
export interface Profiles<M = Metadata> {
  /** Returns the whole profile of the signed-in user. */
  me(): Promise<OwnProfile<M>>;
  /** Changes the given keys; with `ifMatch` only if the profile still has that version. */
  update(changes: ProfileUpdate<M>, options?: { ifMatch?: string }): Promise<OwnProfile<M>>;
  /** Searches profiles. */
  search(input: SearchInput | string, more?: Omit<SearchInput, "q">): Promise<Result<SearchPage>>;
  /** Returns the public profile of a user, by the id of the user (`auth_id`). */
  get(userId: string): Promise<Result<PublicProfile>>;
}
