// `client.auth`: the account operations of spec 4.2 by their names, and what goes with them. Not here: how a session
// is kept (sessions.ts), how OAuth goes (oauth.ts).
import type { VerifiedToken, VerifyOptions } from "./access-token.js";
import { failure, type LatchkeyError, type Result, success } from "./errors.js";
import type { OAuthFlow, OAuthInput, OAuthStart } from "./oauth.js";
import type { Settings } from "./options.js";
import type { RedirectResult } from "./redirect.js";
import { type AuthEvent, type HeldSession, safely } from "./session-store.js";
import type { Sessions } from "./sessions.js";
import type { Request, Transport } from "./transport.js";
import type {
  EndedSessions,
  FlatProfile,
  Identity,
  MailSent,
  Message,
  OwnSession,
  PublicConfig,
  Refreshed,
  ResetToken,
  Session,
  SignedIn,
  SignedUp,
  Unlinked,
  User,
  WireProfile,
} from "./types.js";

/** The older variant's way to say where a link leads. */
export interface OlderRedirect {
  emailRedirectTo?: string;
}

/** What `signUp` takes. */
export interface SignUpInput {
  email: string;
  password: string;
  name?: string;
  /** Where the emailed link leads; required where addresses are verified by link. */
  redirectTo?: string;
  /** Older variant. */
  options?: OlderRedirect;
}

/** What the operations take that send a mail; `options` at `resendVerificationEmail` alone. */
export interface SendMailInput {
  email: string;
  redirectTo?: string;
  /** Older variant. */
  options?: OlderRedirect;
}

/** What `signInWithIdToken` takes. */
export interface IdTokenInput {
  provider: string;
  /** The id token (OpenID Connect). */
  token: string;
  /** What the app gave to the provider, where the token has a `nonce`. */
  nonce?: string;
  /** The name, where the provider tells it to the app alone. */
  name?: string;
}

/** Without the headers of the answer. */
const plain = <T>({ data, error }: Result<T>): Result<T> => (error ? failure(error) : success(data));

/** The account operations. */
export class Auth {
  constructor(
    private readonly settings: Settings,
    private readonly transport: Transport,
    private readonly sessions: Sessions,
    private readonly oauth: OAuthFlow,
  ) {}

  /** Makes an account; signed in at once, unless the address has to be verified first. */
  async signUp({ email, password, name, redirectTo, options }: SignUpInput): Promise<Result<SignedUp>> {
    const body = { email, password, name, redirectTo, options };
    return this.open<SignedUp>({ method: "POST", path: "/api/auth/users", body });
  }

  /** Opens a session by email and password. */
  async signInWithPassword({ email, password }: { email: string; password: string }): Promise<Result<SignedIn>> {
    return this.open<SignedIn>({ method: "POST", path: "/api/auth/sessions", body: { email, password } });
  }

  /** Goes to an identity provider, or returns the address with `skipBrowserRedirect`. */
  signInWithOAuth(input: OAuthInput): Promise<Result<OAuthStart>>;
  /** The same, in the form that some clients know. */
  signInWithOAuth(provider: string, input?: Omit<OAuthInput, "provider">): Promise<Result<OAuthStart>>;
  async signInWithOAuth(
    input: OAuthInput | string,
    more?: Omit<OAuthInput, "provider">,
  ): Promise<Result<OAuthStart>> {
    return this.oauth.begin(typeof input === "string" ? { ...more, provider: input } : input);
  }

  /** Opens a session by the code that a provider's return carried. In a page that happens by itself. */
  async exchangeOAuthCode(code: string, codeVerifier?: string): Promise<Result<SignedIn>> {
    return this.oauth.exchange(code, codeVerifier);
  }

  /** Opens a session by the id token that a provider gave to a native app. */
  async signInWithIdToken({ provider, token, nonce, name }: IdTokenInput): Promise<Result<SignedIn>> {
    const body = { provider, token, nonce, name };
    return this.open<SignedIn>({ method: "POST", path: "/api/auth/id-token", body });
  }

  /** Goes to a provider whose identity is then linked to the signed-in user. */
  async linkIdentity(input: OAuthInput): Promise<Result<OAuthStart>> {
    return this.oauth.beginLink(input);
  }

  /** The identities at providers that the user can sign in with. */
  async listIdentities(): Promise<Result<{ identities: Identity[] }>> {
    return plain(await this.sessions.send<{ identities: Identity[] }>({ method: "GET", path: "/api/auth/identities" }));
  }

  /** Unlinks the identities of a provider, or the one with this subject; never the last way in. */
  async unlinkIdentity({ provider, subject }: { provider: string; subject?: string }): Promise<Result<Unlinked>> {
    const path = `/api/auth/identities/${encodeURIComponent(provider)}`;
    const answer = await this.sessions.send<Unlinked>({ method: "DELETE", path, query: { subject } });
    if (answer.data) this.sessions.store.updateUser(answer.data.user);
    return plain(answer);
  }

  /** Ends the session, here and at the service. */
  async signOut({ refreshToken }: { refreshToken?: string } = {}): Promise<{ error: LatchkeyError | null }> {
    return { error: await this.sessions.end(refreshToken) };
  }

  /** The user, or null; in a page the session is refreshed through the cookie first. */
  async getCurrentUser(): Promise<Result<{ user: User | null }>> {
    const { data, error } = await this.sessions.user();
    return error ? failure(error) : success({ user: data });
  }

  /** The session, or null (older variant). */
  async getCurrentSession(): Promise<Result<{ session: Session | null }>> {
    const { data: held, error } = await this.sessions.current();
    if (error) return failure(error);
    if (!held) return success({ session: null });
    if (held.user) return success({ session: this.sessionOf({ ...held, user: held.user }) });
    // A token in hand does not say everything of its user.
    const user = await this.sessions.user();
    if (user.error) return failure(user.error);
    return success({ session: user.data && this.sessionOf({ ...held, user: user.data }) });
  }

  /** Refreshes now; in server mode with the refresh token that you hold. */
  async refreshSession({ refreshToken }: { refreshToken?: string } = {}): Promise<Result<Refreshed>> {
    const { data, error } = await this.sessions.refresh(refreshToken);
    if (error) return failure(error);
    const { accessToken, user, csrfToken, refreshToken: successor, expiresAt } = data;
    return success({
      user: user as User,
      accessToken,
      ...(csrfToken && { csrfToken }),
      ...(successor && { refreshToken: successor }),
      expiresAt: new Date(expiresAt),
    });
  }

  /** The public profile of a user, custom fields beside the known ones. */
  async getProfile(userId: string): Promise<Result<FlatProfile>> {
    return flat(await this.public<WireProfile>({ method: "GET", path: `/api/auth/profiles/${encodeURIComponent(userId)}` }));
  }

  /** Changes the profile of the user, shallowly merged; `null` deletes a custom field. Also as `{ profile }`. */
  async setProfile(input: Record<string, unknown>): Promise<Result<FlatProfile>> {
    const path = "/api/auth/profiles/current";
    const profile = typeof input.profile === "object" ? input.profile : input;
    const result = flat(await this.sessions.send<WireProfile>({ method: "PATCH", path, body: { profile } }));
    if (result.data) this.sessions.store.updateProfile(result.data.id, result.data);
    return result;
  }

  /** Sends the code or link again that verifies an address; the same answer for every address. */
  async resendVerificationEmail({ email, redirectTo, options }: SendMailInput): Promise<Result<MailSent>> {
    return this.post("/api/auth/email/send-verification", { email, redirectTo, options });
  }

  /** Verifies an address by its code, or (older variant) by the token of a link alone, and signs in. */
  async verifyEmail({ email, otp }: { email?: string; otp: string }): Promise<Result<SignedIn>> {
    return this.open<SignedIn>({ method: "POST", path: "/api/auth/email/verify", body: { email, otp } });
  }

  /** Sends the code or link for a new password; the same answer for every address. */
  async sendResetPasswordEmail({ email, redirectTo }: Omit<SendMailInput, "options">): Promise<Result<MailSent>> {
    return this.post("/api/auth/email/send-reset-password", { email, redirectTo });
  }

  /** The token for a reset code, where passwords are reset by code. */
  async exchangeResetPasswordToken({ email, code }: { email: string; code: string }): Promise<Result<ResetToken>> {
    return this.post("/api/auth/email/exchange-reset-password-token", { email, code });
  }

  /** Sets a new password; `otp` is the token of the exchange or of the link. Every session ends. */
  async resetPassword({ newPassword, otp }: { newPassword: string; otp: string }): Promise<Result<Message>> {
    const result = await this.post<Message>("/api/auth/email/reset-password", { newPassword, otp });
    if (!result.error) this.oauth.forgetResult();
    return result;
  }

  /** Sets a new password for the signed-in user; the other sessions end. */
  async changePassword(input: { currentPassword: string; newPassword: string }): Promise<Result<Message>> {
    const { currentPassword, newPassword } = input;
    const body = { currentPassword, newPassword };
    return plain(await this.sessions.send<Message>({ method: "POST", path: "/api/auth/password", body }));
  }

  /** The sessions of the signed-in user. */
  async listSessions(): Promise<Result<{ sessions: OwnSession[] }>> {
    return plain(await this.sessions.send<{ sessions: OwnSession[] }>({ method: "GET", path: "/api/auth/sessions" }));
  }

  /** Ends one of them. */
  async endSession(id: string): Promise<Result<EndedSessions>> {
    const path = `/api/auth/sessions/${encodeURIComponent(id)}`;
    return plain(await this.sessions.send<EndedSessions>({ method: "DELETE", path }));
  }

  /** Ends all of them but this one. */
  async endOtherSessions(): Promise<Result<EndedSessions>> {
    const query = { others: "true" };
    return plain(await this.sessions.send<EndedSessions>({ method: "DELETE", path: "/api/auth/sessions", query }));
  }

  /** The public settings: which providers there are, how an address is verified, what a password needs. */
  async getPublicConfig(): Promise<Result<PublicConfig>> {
    return this.public({ method: "GET", path: "/api/auth/public-config" });
  }

  /**
   * What the emailed link, or the return from a provider, said that led here (spec 4.3), taken out of the address bar;
   * null without one. It is said again until it was acted upon: a password was set, or somebody signed in. The exchange
   * of a code takes a moment: whether it failed is known with `INITIAL_SESSION`.
   */
  getRedirectResult(): RedirectResult | null {
    return this.oauth.takeResult();
  }

  /** Is told `INITIAL_SESSION` once it is known, then every change, in other tabs too, until the function is called. */
  onAuthStateChange(callback: (event: AuthEvent, session: Session | null) => void): () => void {
    const tell = (event: AuthEvent, held: HeldSession | null): void =>
      callback(event, held?.user ? this.sessionOf({ ...held, user: held.user }) : null);
    let stop: (() => void) | undefined;
    let isWanted = true;
    // With a token in hand the user is asked for.
    void this.getCurrentSession().then(({ error }) => {
      if (!isWanted) return;
      stop = this.sessions.store.listen(tell);
      // Without a network it is not known yet; the first refresh that goes well will say it.
      if (!error) safely(() => tell("INITIAL_SESSION", this.sessions.store.current));
    });
    return () => {
      isWanted = false;
      stop?.();
    };
  }

  /** Checks an access token against the keys of this service, without asking it each time. Loaded when it is called. */
  async verifyAccessToken(token: string, options?: Omit<VerifyOptions, "baseUrl">): Promise<Result<VerifiedToken>> {
    const { verifyAccessToken } = await import("./access-token.js");
    const { baseUrl, fetch } = this.settings;
    return verifyAccessToken(token, { baseUrl, fetch, ...options });
  }

  /** A sign-in; what led to the page is behind it then. */
  private async open<T extends object>(request: Request): Promise<Result<T>> {
    const result = await this.sessions.open<T>(request);
    if (!result.error) this.oauth.forgetResult();
    return result;
  }

  /** What an app is told. One that keeps its refresh token needs every successor; pages and servers do not. */
  private sessionOf({ accessToken, user, expiresAt, refreshToken }: HeldSession & { user: User }): Session {
    const keeps = refreshToken && ["mobile", "desktop"].includes(this.settings.clientType);
    return { accessToken, user, ...(keeps && { refreshToken }), expiresAt: new Date(expiresAt) };
  }

  private async public<T>(request: Request): Promise<Result<T>> {
    return plain(await this.transport.send<T>(request));
  }

  private post<T>(path: string, body: object): Promise<Result<T>> {
    return this.public({ method: "POST", path, body });
  }
}

/** Without the nested copy that the service gives to older clients. */
function flat(result: Result<WireProfile>): Result<FlatProfile> {
  if (result.error) return failure(result.error);
  const { profile: _, ...fields } = result.data;
  return success(fields);
}
