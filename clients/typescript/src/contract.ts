// Public interfaces of a client; the fake of `@latchkey/client/testing` has them too. Implemented in auth.ts and
// profiles.ts.
import type { VerifiedToken, VerifyOptions } from "./access-token.js";
import type { LatchkeyError, Result } from "./errors.js";
import type { OAuthInput, OAuthStart, PagesInput } from "./oauth.js";
import type { RedirectResult } from "./redirect.js";
import type { AuthEvent } from "./session-store.js";
import type { SignOutInput } from "./sessions.js";
import type { SignedOut } from "./sign-out.js";
import type {
  Account,
  AccountExport,
  AccountInDeletion,
  BegunEmailChange,
  BegunTotp,
  Challenge,
  ChallengeKind,
  ConfirmedEmailChange,
  ConfirmedTotp,
  EndedSessions,
  Entrance,
  FlatProfile,
  Identity,
  MailSent,
  Message,
  Metadata,
  OwnEvents,
  OwnPasskeys,
  OwnSession,
  Passkey,
  ProfileRecord,
  ProfileUpdate,
  PublicConfig,
  PublicProfile,
  Reauthenticated,
  Refreshed,
  RegisteredPasskey,
  RemovedPasskey,
  ResetToken,
  Session,
  SignedUp,
  TotpFactor,
  TwoStepSet,
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

/** Input of `verifyOtp`: the code of a mail with its address, or the token of its link. */
export type OtpInput =
  | { email: string; otp: string; token?: undefined; name?: string }
  | { token: string; email?: undefined; otp?: undefined; name?: string };

/** Listener of `onAuthStateChange`; `challenge` with `CHALLENGED`. */
export type AuthListener<M = Metadata> = (
  event: AuthEvent,
  session: Session<M> | null,
  error: LatchkeyError | null,
  challenge?: Challenge<unknown>,
) => void;

/** Input of `answerChallenge`. */
export interface ChallengeAnswer<Outcome = unknown> {
  challenge: Challenge<Outcome>;
  /**
   * One of `challenge.kinds`; for `passkey` call `answerChallengeWithPasskey` instead. `restore` ends the deletion of the
   * account and signs in.
   */
  kind: ChallengeKind;
  /** Six digits of an app or a mail, or a recovery code. */
  code?: string;
  password?: string;
}

/** Operations on authenticator apps: time-based one-time passwords (RFC 6238). */
export interface Totp<M = Metadata> {
  /**
   * Begins an enrolment: show `uri` as a QR code and `secret` as text. With the `challenge` of a sign-in that has kind
   * `enroll`, it needs no session.
   */
  begin(input?: { name?: string; challenge?: Challenge<unknown> }): Promise<Result<BegunTotp>>;
  /**
   * Finishes an enrolment with a code of the app. The first one turns two-step sign-in on: every session ends, this client
   * gets a new one, and `recoveryCodes` are shown this once.
   */
  confirm(input: { factorId: string; code: string; challenge?: Challenge<unknown> }): Promise<Result<ConfirmedTotp<M>>>;
  /** Renames an authenticator app. */
  rename(id: string, name: string): Promise<Result<{ factor: TotpFactor }>>;
  /** Removes an authenticator app, not the last factor while two-step sign-in is on. */
  remove(id: string): Promise<Result<Message>>;
}

/** Input of `signInWithPasskey`. */
export interface PasskeySignInInput {
  /** Address of the only account that may sign in. Without it, the chosen passkey decides. */
  email?: string;
  /**
   * Offers passkeys in the autofill of the field with `autocomplete="username webauthn"`, instead of a dialog. Call it when the
   * form appears. It waits until a passkey is chosen, a session opens, or `signal` ends it. A second call ends the first.
   */
  autofill?: boolean;
  /** Ends the request, with the error `PASSKEY_CANCELLED`. */
  signal?: AbortSignal;
}

/** Operations on the passkeys of the user: keys on a device, which sign in with a fingerprint, a face or a PIN. */
export interface Passkeys<M = Metadata> {
  /**
   * Creates a passkey on the device and registers it. Without `name` it is named after its product or the device. With the
   * `challenge` of a sign-in that has kind `enroll`, it needs no session, turns two-step sign-in on and opens the session.
   */
  register(input?: { name?: string; challenge?: Challenge<unknown> }): Promise<Result<RegisteredPasskey<M>>>;
  /** Lets the browser create a passkey without a dialog, after a sign-in by password. If it does not, `data` is null. */
  register(input: { name?: string; conditional: true }): Promise<Result<RegisteredPasskey<M> | null>>;
  /** Lists the passkeys. */
  list(): Promise<Result<OwnPasskeys>>;
  /** Renames a passkey. */
  rename(id: string, name: string): Promise<Result<{ passkey: Passkey }>>;
  /** Removes a passkey, at the service and, where the browser can, from the device. The sessions that it opened end. */
  remove(id: string): Promise<Result<RemovedPasskey>>;
  /** Whether this browser has passkeys on this page. */
  isSupported(): boolean;
}

/** Account operations. Expected failures are returned as `error`; nothing is thrown. */
export interface Auth<M = Metadata> {
  /** Creates an account. The session opens at once, unless the address must be verified first. */
  signUp(input: SignUpInput): Promise<Result<SignedUp<M>>>;
  /** Opens a session by a passkey, in a dialog of the browser or from the autofill of a form. */
  signInWithPasskey(input?: PasskeySignInInput): Promise<Result<Entrance<M>>>;
  /** Opens a session by email and password, or returns the challenge to which an account with two-step sign-in must answer. */
  signInWithPassword(input: Credentials): Promise<Result<Entrance<M>>>;
  /** Redirects to an identity provider; with `skipBrowserRedirect` it only returns the URL. */
  signInWithOAuth(input: OAuthInput): Promise<Result<OAuthStart>>;
  /** The same with the provider as the first argument. */
  signInWithOAuth(provider: string, input?: Omit<OAuthInput, "provider">): Promise<Result<OAuthStart>>;
  /**
   * Redirects to the sign-in page of the service, which returns like a provider; with `skipBrowserRedirect` it only returns the
   * URL. The service must show its pages (`pages.enabled`).
   */
  signInWithPages(input?: PagesInput): Promise<Result<OAuthStart>>;
  /** Address of the page on which users manage their account at the service. */
  accountUrl(): string;
  /** Opens a session with the code of a sign-in at a provider or at the pages. Pages of the app do this automatically. */
  exchangeOAuthCode(code: string, codeVerifier?: string): Promise<Result<Entrance<M>>>;
  /** Opens a session with the `id_token` that a provider issued to a native app. */
  signInWithIdToken(input: IdTokenInput): Promise<Result<Entrance<M>>>;
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
  verifyEmail(input: { email?: string; otp: string }): Promise<Result<Entrance<M>>>;
  /**
   * Mails a sign-in code for `verifyOtp`, also to an address without an account. The result is the same for every address. If
   * the service sends links (`emailSignIn`), the mail also has one to `redirectTo`, which signs in this browser alone: the
   * client keeps the verifier (PKCE).
   */
  signInWithOtp(input: Omit<SendMailInput, "options">): Promise<Result<MailSent>>;
  /**
   * Signs in with a mailed code, or with the token of a sign-in link, in the browser that asked for it. Pages do the latter
   * automatically. An address without an account gets one, with `name`.
   */
  verifyOtp(input: OtpInput): Promise<Result<Entrance<M>>>;
  /** Sends a password reset code or link. The result is the same for every address. */
  sendResetPasswordEmail(input: Omit<SendMailInput, "options">): Promise<Result<MailSent>>;
  /** Exchanges a reset code for a reset token, if passwords are reset by code. */
  exchangeResetPasswordToken(input: { email: string; code: string }): Promise<Result<ResetToken>>;
  /**
   * Sets a new password; `otp` is the token of the exchange or of the link. All sessions end, this browser's too. With
   * two-step sign-in the error is `SECOND_FACTOR_REQUIRED` and has a `challenge`; its answer is the token to use instead.
   */
  resetPassword(input: { newPassword: string; otp: string }): Promise<Result<Message>>;
  /** Sets a new password for the signed-in user. The other sessions end. */
  changePassword(input: { currentPassword: string; newPassword: string }): Promise<Result<Message>>;
  /** Sets the first password of an account without one. The other sessions end. */
  setPassword(input: { newPassword: string }): Promise<Result<Message>>;
  /** Lists the sessions of the signed-in user. */
  listSessions(): Promise<Result<{ sessions: OwnSession[] }>>;
  /** Names a session of the signed-in user; null removes the name. */
  renameSession(id: string, name: string | null): Promise<Result<{ session: OwnSession }>>;
  /** Ends a session of the signed-in user; ending the current one is a sign-out. */
  endSession(id: string): Promise<Result<EndedSessions>>;
  /** Ends all sessions of the signed-in user except this one. */
  endOtherSessions(): Promise<Result<EndedSessions>>;
  /** Returns the own account: factors, and whether the current token is fresh. */
  getAccount(): Promise<Result<Account<M>>>;
  /** Changes the language of the account's mails, a language tag (BCP 47). */
  updateAccount(input: { locale: string }): Promise<Result<Account<M>>>;
  /**
   * Begins a change of the address: mails a code to the new one, and to the current one if `needs` has it. Another change
   * that was begun ends. Keep `changeId`: the account does not show it.
   */
  changeEmail(input: { newEmail: string }): Promise<Result<BegunEmailChange>>;
  /**
   * Confirms the change with the codes, together or one after the other. After the last one the user has the new address,
   * and the other sessions end.
   */
  confirmEmailChange(input: { changeId: string; newCode?: string; currentCode?: string }): Promise<Result<ConfirmedEmailChange<M>>>;
  /** Ends a change of the address that was begun. */
  cancelEmailChange(): Promise<Result<Message>>;
  /** Deletes the account and signs out. Until `deletesAt` a sign-in can restore it, by the answer to kind `restore`. */
  deleteAccount(): Promise<Result<AccountInDeletion>>;
  /** Returns what the service stores about the user, for a file. */
  exportAccount(): Promise<Result<AccountExport<M>>>;
  /** Lists sign-ins and changes of the account, newest first; `before` is the `nextBefore` of the page before. */
  listEvents(input?: { before?: string; limit?: number }): Promise<Result<OwnEvents>>;
  /** Authenticator apps. */
  readonly totp: Totp<M>;
  /** Passkeys. */
  readonly passkeys: Passkeys<M>;
  /**
   * Turns two-step sign-in on or off. On needs a factor, ends every session, opens a new one here, and shows recovery codes
   * this once. Off removes the factors.
   */
  setTwoStep(enabled: boolean): Promise<Result<TwoStepSet<M>>>;
  /** Makes ten new recovery codes, shown this once; the old ones no longer work. */
  replaceRecoveryCodes(): Promise<Result<{ recoveryCodes: string[] }>>;
  /**
   * Answers a challenge. The right answer opens the session of the sign-in, freshens that of `reauthenticate`, or is the
   * token of a password reset. `INVALID_SECOND_FACTOR`: try again. `INVALID_CHALLENGE`: start over.
   */
  answerChallenge<Outcome = Entrance<M>>(input: ChallengeAnswer<Outcome>): Promise<Result<Outcome>>;
  /** Answers a challenge with kind `passkey`, in a dialog of the browser. The outcomes are those of `answerChallenge`. */
  answerChallengeWithPasskey<Outcome = Entrance<M>>(input: { challenge: Challenge<Outcome> }): Promise<Result<Outcome>>;
  /** Mails the code of a challenge with kind `email_code`. */
  sendChallengeCode(input: { challenge: Challenge<unknown> }): Promise<Result<MailSent>>;
  /** Requests a challenge; its answer makes the session fresh for calls that need it (`REAUTHENTICATION_REQUIRED`). */
  reauthenticate(): Promise<Result<{ challenge: Challenge<Reauthenticated<M>> }>>;
  /** Returns the public settings: providers, verification method, password rules. */
  getPublicConfig(): Promise<Result<PublicConfig>>;
  /**
   * Result of the emailed link or provider redirect that led to this page (spec 4.3), or null. It is returned until a
   * password is set or a user signs in. A code and the token of a sign-in link are exchanged in the background: an error, or
   * `needsCode`, is known with `INITIAL_SESSION`.
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
