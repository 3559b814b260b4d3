// `client.auth`: the account operations of spec 4.2 as requests. Documented in contract.ts; sessions are in sessions.ts,
// the OAuth flow in oauth-flow.ts. Closures instead of methods: they need no `this`.
import type { Auth } from "./contract.js";
import { bytesOf, partOf } from "./claims.js";
import { failure, LatchkeyError, type Result, success } from "./errors.js";
import type { OAuth } from "./oauth.js";
import type { Settings } from "./options.js";
import type { HeldSession } from "./session-store.js";
import type { Sessions } from "./sessions.js";
import { END_OTHERS } from "./sign-out.js";
import type { Request, Transport } from "./transport.js";
import type { EndedSessions, FlatProfile, Refreshed, Session, Unlinked, User, WireProfile } from "./types.js";

/** Parts of a client that the operations use. */
interface Parts {
  settings: Settings;
  transport: Transport;
  sessions: Sessions;
  oauth: OAuth;
}

type Operations<Names extends keyof Auth> = Pick<Auth, Names>;

/** Path of an account operation; an id is one segment of it. */
const at = (path: string, id?: string): string => `/api/auth/${path}${id === undefined ? "" : encodeURIComponent(id)}`;

/** Result without the response headers. */
const plain = <T>({ data, error }: Result<T>): Result<T> => (error ? failure(error) : success(data));

/** Result without the nested copy for older clients. */
function flat(result: Result<WireProfile>): Result<FlatProfile> {
  if (result.error) return failure(result.error);
  const { profile: _, ...fields } = result.data;
  return success(fields);
}

/** Creates the account operations of one client. */
export const createAuth = (parts: Parts): Auth => ({
  ...signingIn(parts),
  ...ofSession(parts),
  ...ofUser(parts),
  ...publicly(parts),
  async verifyAccessToken(token, options) {
    const { check } = await import("./access-token.js");
    const { baseUrl, fetch } = parts.settings;
    return check(token, { baseUrl, fetch, ...options }, { bytesOf, partOf, LatchkeyError });
  },
});

function signingIn({
  sessions,
  oauth,
}: Parts): Operations<
  | "signUp"
  | "signInWithPassword"
  | "signInWithIdToken"
  | "verifyEmail"
  | "signInWithOAuth"
  | "exchangeOAuthCode"
  | "linkIdentity"
  | "getRedirectResult"
> {
  /** Opens a session and clears the redirect result. */
  const open = async <T extends object>(path: string, body: object): Promise<Result<T>> => {
    const result = await sessions.open<T>({ method: "POST", path: at(path), body });
    if (!result.error) oauth.forgetResult();
    return result;
  };
  // Keys are listed, so that extra properties of the input are not sent.
  return {
    signUp: ({ email, password, name, redirectTo, options }) =>
      open("users", { email, password, name, redirectTo, options }),
    signInWithPassword: ({ email, password }) => open("sessions", { email, password }),
    signInWithIdToken: ({ provider, token, nonce, name }) => open("id-token", { provider, token, nonce, name }),
    verifyEmail: ({ email, otp }) => open("email/verify", { email, otp }),
    signInWithOAuth: (input, more?: object) =>
      oauth.use((flow) => flow.begin(typeof input === "string" ? { ...more, provider: input } : input)),
    exchangeOAuthCode: (code, codeVerifier) =>
      oauth.use((flow, verifier) => flow.exchange(code, codeVerifier ?? verifier)),
    linkIdentity: (input) => oauth.use((flow) => flow.beginLink(input)),
    getRedirectResult: oauth.takeResult,
  };
}

function ofSession({
  settings,
  sessions,
}: Parts): Operations<"signOut" | "getCurrentUser" | "getCurrentSession" | "refreshSession" | "onAuthStateChange"> {
  /** Public session. Only apps that store the refresh token themselves get each new one. */
  const sessionOf = ({ accessToken, user, expiresAt, refreshToken }: HeldSession): Session => {
    const keeps = refreshToken && ["mobile", "desktop"].includes(settings.clientType);
    return { accessToken, user: user as User, ...(keeps && { refreshToken }), expiresAt: new Date(expiresAt) };
  };

  const getCurrentSession = async (): Promise<Result<{ session: Session | null }>> => {
    const { data: held, error } = await sessions.current();
    if (error) return failure(error);
    if (!held || held.user) return success({ session: held && sessionOf(held) });
    // A token passed by the app does not hold the whole user.
    const { data: user, error: why } = await sessions.user();
    return why ? failure(why) : success({ session: user && sessionOf({ ...held, user }) });
  };

  return {
    signOut: (options = {}) => sessions.end(options),
    async getCurrentUser() {
      const { data, error } = await sessions.user();
      return error ? failure(error) : success({ user: data });
    },
    getCurrentSession,
    async refreshSession({ refreshToken: given } = {}) {
      const { data, error } = await sessions.refresh(given);
      if (error) return failure(error);
      const { accessToken, user, csrfToken, refreshToken, expiresAt } = data;
      const tokens = { ...(csrfToken && { csrfToken }), ...(refreshToken && { refreshToken }) };
      return success<Refreshed>({ user: user as User, accessToken, ...tokens, expiresAt: new Date(expiresAt) });
    },
    // With a token passed by the app, the user is requested first.
    onAuthStateChange: (callback) =>
      sessions.listen(getCurrentSession(), (event, held, error = null) =>
        callback(event, held?.user ? sessionOf(held) : null, error),
      ),
  };
}

function ofUser({
  sessions,
}: Parts): Operations<
  | "listIdentities"
  | "unlinkIdentity"
  | "setProfile"
  | "changePassword"
  | "listSessions"
  | "endSession"
  | "endOtherSessions"
> {
  const send = async <T>(method: Request["method"], path: string, more?: Partial<Request>): Promise<Result<T>> =>
    plain(await sessions.send<T>({ method, path, ...more }));
  return {
    listIdentities: () => send("GET", at("identities")),
    async unlinkIdentity({ provider, subject }) {
      const result = await send<Unlinked>("DELETE", at("identities/", provider), { query: { subject } });
      if (result.data) sessions.store.updateUser(result.data.user);
      return result;
    },
    async setProfile(input) {
      const profile = typeof input.profile === "object" ? input.profile : input;
      const result = flat(await send<WireProfile>("PATCH", at("profiles/current"), { body: { profile } }));
      if (result.data) sessions.store.updateProfile(result.data.id, result.data);
      return result;
    },
    changePassword: ({ currentPassword, newPassword }) =>
      send("POST", at("password"), { body: { currentPassword, newPassword } }),
    listSessions: () => send("GET", at("sessions")),
    async endSession(id) {
      const result = await send<EndedSessions>("DELETE", at("sessions/", id));
      if (result.data) sessions.store.endIfOwn(id);
      return result;
    },
    endOtherSessions: async () => plain(await sessions.send<EndedSessions>(END_OTHERS)),
  };
}

function publicly({
  transport,
  sessions,
  oauth,
}: Parts): Operations<
  | "getProfile"
  | "getPublicConfig"
  | "resendVerificationEmail"
  | "sendResetPasswordEmail"
  | "exchangeResetPasswordToken"
  | "resetPassword"
> {
  const send = async <T>(method: Request["method"], path: string, body?: object): Promise<Result<T>> =>
    plain(await transport.send<T>({ method, path, ...(body && { body }) }));
  const post = <T>(path: string, body: object): Promise<Result<T>> => send("POST", at(`email/${path}`), body);
  return {
    getProfile: async (userId) => flat(await send("GET", at("profiles/", userId))),
    getPublicConfig: () => send("GET", at("public-config")),
    resendVerificationEmail: ({ email, redirectTo, options }) =>
      post("send-verification", { email, redirectTo, options }),
    sendResetPasswordEmail: ({ email, redirectTo }) => post("send-reset-password", { email, redirectTo }),
    exchangeResetPasswordToken: ({ email, code }) => post("exchange-reset-password-token", { email, code }),
    async resetPassword({ newPassword, otp }) {
      const result = await post<{ message: string }>("reset-password", { newPassword, otp });
      if (!result.error) {
        oauth.forgetResult();
        sessions.store.end();
      }
      return result;
    },
  };
}
