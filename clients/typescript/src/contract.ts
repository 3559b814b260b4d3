// Public interfaces of a client; the fake of `@latchkey/client/testing` has them too. Implemented in auth.ts and
// profiles.ts.
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

/** Types of application data: `createClient<{ metadata: { plan: string } }>(…)`. */
export interface AppTypes {
  /** `metadata` of the user, writable by admins. */
  metadata?: object;
  /** `metadata` of the own profile, writable by the user. */
  profileMetadata?: object;
}

/** Type of `user.metadata`; any JSON object by default. */
export type UserMetadata<Types> = Types extends { metadata: infer Own } ? Own : Metadata;
/** Type of `metadata` in the own profile; any JSON object by default. */
export type ProfileMetadata<Types> = Types extends { profileMetadata: infer Own } ? Own : Metadata;

/** Client of one service, for one user at a time. Its methods need no `this`. */
export interface LatchkeyClient<Types extends AppTypes = AppTypes> {
  /** Accounts and sessions. */
  readonly auth: Auth<UserMetadata<Types>>;
  /** Profiles. */
  readonly profiles: Profiles<ProfileMetadata<Types>>;
  /**
   * Adopts the session with which a server rendered the page, unless the client has one. Sends no request.
   * `LatchkeyProvider` calls it with its `initialSession`.
   */
  hydrate(session: Session<UserMetadata<Types>> | null): void;
  /** Stops timers and listeners; for clients with a shorter life than the page. */
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

/** Input of the operations that send a mail; `options` for `resendVerificationEmail` only. */
export interface SendMailInput {
  email: string;
  redirectTo?: string;
  /** Older variant. */
  options?: OlderRedirect;
}

/** Input of `signInWithIdToken`. */
export interface IdTokenInput {
  provider: string;
  /** `id_token` of the provider (OpenID Connect). */
  token: string;
  /** Nonce that the app sent to the provider, if the token has one. */
  nonce?: string;
  /** Name of the user, if the provider gives it only to the app. */
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
  /** Redirects to an identity provider; with `skipBrowserRedirect` it only returns the URL. */
  signInWithOAuth(input: OAuthInput): Promise<Result<OAuthStart>>;
  /** The same with the provider as the first argument. */
  signInWithOAuth(provider: string, input?: Omit<OAuthInput, "provider">): Promise<Result<OAuthStart>>;
  /** Opens a session with the code of a provider sign-in. Pages do this automatically. */
  exchangeOAuthCode(code: string, codeVerifier?: string): Promise<Result<SignedIn<M>>>;
  /** Opens a session with the `id_token` that a provider issued to a native app. */
  signInWithIdToken(input: IdTokenInput): Promise<Result<SignedIn<M>>>;
  /** Redirects to an identity provider and links the identity to the signed-in user. */
  linkIdentity(input: OAuthInput): Promise<Result<OAuthStart>>;
  /** Lists the identities that the user can sign in with. */
  listIdentities(): Promise<Result<{ identities: Identity[] }>>;
  /** Unlinks the identities of a provider, or the one with this subject. The last way to sign in cannot be unlinked. */
  unlinkIdentity(input: { provider: string; subject?: string }): Promise<Result<Unlinked<M>>>;
  /**
   * Ends the session, in the browser at once and then at the service; with `scope` the other sessions of the user instead,
   * or too. `pending`: the service was unreachable; the sign-out is sent as soon as possible.
   */
  signOut(options?: SignOutInput): Promise<SignedOut>;
  /** Returns the user, or null. A page refreshes its session through the cookie first. */
  getCurrentUser(): Promise<Result<{ user: User<M> | null }>>;
  /** Returns the session, or null (older variant). */
  getCurrentSession(): Promise<Result<{ session: Session<M> | null }>>;
  /** Refreshes now; in server mode with the given refresh token. */
  refreshSession(options?: { refreshToken?: string }): Promise<Result<Refreshed<M>>>;
  /** Returns the public profile of a user, custom fields included. */
  getProfile(userId: string): Promise<Result<FlatProfile>>;
  /** Changes the profile of the user, merged shallowly; `null` deletes a custom field. Also as `{ profile }`. */
  setProfile(profile: Record<string, unknown>): Promise<Result<FlatProfile>>;
  /** Sends the verification mail again. The result is the same for every address. */
  resendVerificationEmail(input: SendMailInput): Promise<Result<MailSent>>;
  /** Verifies an address by code, or (older variant) by the token of a link, and signs in. */
  verifyEmail(input: { email?: string; otp: string }): Promise<Result<SignedIn<M>>>;
  /** Sends a password reset code or link. The result is the same for every address. */
  sendResetPasswordEmail(input: Omit<SendMailInput, "options">): Promise<Result<MailSent>>;
  /** Exchanges a reset code for a reset token, if passwords are reset by code. */
  exchangeResetPasswordToken(input: { email: string; code: string }): Promise<Result<ResetToken>>;
  /** Sets a new password; `otp` is the token of the exchange or of the link. All sessions end, this browser's too. */
  resetPassword(input: { newPassword: string; otp: string }): Promise<Result<Message>>;
  /** Sets a new password for the signed-in user. The other sessions end. */
  changePassword(input: { currentPassword: string; newPassword: string }): Promise<Result<Message>>;
  /** Lists the sessions of the signed-in user. */
  listSessions(): Promise<Result<{ sessions: OwnSession[] }>>;
  /** Ends a session of the signed-in user; ending the current one is a sign-out. */
  endSession(id: string): Promise<Result<EndedSessions>>;
  /** Ends all sessions of the signed-in user except this one. */
  endOtherSessions(): Promise<Result<EndedSessions>>;
  /** Returns the public settings: providers, verification method, password rules. */
  getPublicConfig(): Promise<Result<PublicConfig>>;
  /**
   * Result of the emailed link or provider redirect that led to this page (spec 4.3), or null. It is returned until a
   * password is set or a user signs in. A code is exchanged in the background: an error is known with `INITIAL_SESSION`.
   */
  getRedirectResult(): RedirectResult | null;
  /**
   * Calls back with `INITIAL_SESSION` first, then with every change, in other tabs too. The returned function unsubscribes.
   * `error` is set if the session is still unknown at `INITIAL_SESSION` (no network, no response within three seconds):
   * show neither a sign-in form nor a user; a later event has the session.
   */
  onAuthStateChange(callback: AuthListener<M>): () => void;
  /** Verifies an access token with the keys of this service. Its code is loaded on the first call. */
  verifyAccessToken(token: string, options?: Omit<VerifyOptions, "baseUrl">): Promise<Result<VerifiedToken>>;
}

/** Input of `profiles.search`. */
export interface SearchInput {
  /** Text to find in names, usernames and bios. */
  q: string;
  /** 1 to 100; default 20. */
  limit?: number;
  /** Number of matches to skip. */
  offset?: number;
}

/** One page of matches. */
export interface SearchPage {
  profiles: PublicProfile[];
  /** Total number of matches. `NaN` if a proxy dropped the header; the same holds for the two below. */
  total: number;
  /** Page number, from 1. */
  page: number;
  /** Limit in force. */
  pageSize: number;
}

/** Own profile, with the version to pass to `update` as `ifMatch`. */
export type OwnProfile<M = Metadata> = Result<ProfileRecord<M>> & { etag: string | null };

/** Profile operations. */
export interface Profiles<M = Metadata> {
  /** Returns the whole profile of the signed-in user. */
  me(): Promise<OwnProfile<M>>;
  /** Changes the given keys; with `ifMatch` only if the profile still has that version. */
  update(changes: ProfileUpdate<M>, options?: { ifMatch?: string }): Promise<OwnProfile<M>>;
  /** Searches profiles. */
  search(input: SearchInput | string, more?: Omit<SearchInput, "q">): Promise<Result<SearchPage>>;
  /** Returns the public profile of a user by the user id (`auth_id`). */
  get(userId: string): Promise<Result<PublicProfile>>;
}
