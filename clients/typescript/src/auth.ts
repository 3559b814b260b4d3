// `client.auth`: the account operations of spec 4.2 as requests. Documented in contract.ts; sessions are in sessions.ts,
// the OAuth flow in oauth-flow.ts, sign-in by mail and `id_token` in late-sign-ins.ts, the own account and its factors in
// account.ts, passkeys in passkeys.ts. Closures instead of methods: they need no `this`.
import type { Auth } from "./contract.js";
import type { AccountOperations } from "./account.js";
import type { AccountParts } from "./account-calls.js";
import { base64url, bytesOf, claimsOf, partOf } from "./claims.js";
import { failure, LatchkeyError, type Result, success, unexpected } from "./errors.js";
import { late } from "./late.js";
import type { LateSignIns } from "./late-sign-ins.js";
import type { OAuth } from "./oauth.js";
import type { Flow } from "./oauth-flow.js";
import type { Settings } from "./options.js";
import type { PasskeyCalls, PasskeyOperations, PasskeyParts } from "./passkeys.js";
import { type HeldSession, hold } from "./session-store.js";
import type { Sessions } from "./sessions.js";
import type { Storage } from "./storage.js";
import type { Transport } from "./transport.js";
import type { Challenge, PublicConfig, Reauthenticated, Refreshed, Session, User } from "./types.js";

/** Parts of a client that the operations use. */
interface Parts {
  settings: Settings;
  transport: Transport;
  sessions: Sessions;
  oauth: OAuth;
  /** Storage of PKCE verifiers, if not the browser's. */
  storage: Storage | undefined;
  ask?: ((challenge: Challenge<Reauthenticated>) => Promise<unknown>) | undefined;
}

type Operations<Names extends keyof Auth> = Pick<Auth, Names>;

/** Creates the account operations of one client. */
export const createAuth = (parts: Parts): Auth => ({
  ...signingIn(parts),
  ...ofSession(parts),
  ...onDemand(parts),
  getPublicConfig: async () => {
    const { data, error } = await parts.transport.send<PublicConfig>({ method: "GET", path: "/api/auth/public-config" });
    return error ? failure(error) : success(data);
  },
  async verifyAccessToken(token, options) {
    const { check } = await import("./access-token.js");
    const { baseUrl, fetch } = parts.settings;
    return check(token, { baseUrl, fetch, ...options }, { bytesOf, partOf, LatchkeyError });
  },
});

function signingIn({
  settings,
  sessions,
  oauth,
}: Parts): Operations<
  | "signUp"
  | "signInWithPassword"
  | "signInWithOAuth"
  | "signInWithPages"
  | "accountUrl"
  | "exchangeOAuthCode"
  | "linkIdentity"
  | "getRedirectResult"
> {
  /** Opens a session and clears the redirect result. */
  const open = async <T extends object>(path: string, body: object): Promise<Result<T>> => {
    const result = await sessions.open<T>({ method: "POST", path: `/api/auth/${path}`, body });
    if (!result.error) oauth.forgetResult();
    return result;
  };
  /** Operation of the OAuth flow. */
  const flow =
    <Name extends keyof Flow>(name: Name) =>
    (...input: Parameters<Flow[Name]>): ReturnType<Flow[Name]> =>
      oauth.use((made) => (made[name] as (...given: unknown[]) => Promise<Result<never>>)(...input)) as ReturnType<Flow[Name]>;
  // Keys are listed, so that extra properties of the input are not sent.
  return {
    signUp: ({ email, password, name, redirectTo, options }) =>
      open("users", { email, password, name, redirectTo, options }),
    signInWithPassword: ({ email, password }) => open("sessions", { email, password }),
    signInWithOAuth: flow("begin"),
    signInWithPages: flow("beginPages"),
    accountUrl: () => `${settings.publicUrl}/auth/account`,
    exchangeOAuthCode: flow("exchange"),
    linkIdentity: flow("beginLink"),
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
      sessions.listen(getCurrentSession(), (event, held, error = null, challenge) =>
        callback(event, held?.user ? sessionOf(held) : null, error, challenge),
      ),
  };
}

/** Names of the operations that account.ts has. */
const OF_ACCOUNT =
  "listIdentities unlinkIdentity changePassword listSessions endSession endOtherSessions getAccount setTwoStep " +
  "replaceRecoveryCodes answerChallenge sendChallengeCode reauthenticate beginTotp confirmTotp renameTotp removeTotp " +
  "getProfile setProfile resendVerificationEmail sendResetPasswordEmail exchangeResetPasswordToken resetPassword updateAccount " +
  "setPassword changeEmail confirmEmailChange cancelEmailChange deleteAccount exportAccount listEvents renameSession";

/** Operations of account.ts, late-sign-ins.ts and passkeys.ts. */
function onDemand(
  core: Parts,
): Omit<AccountOperations, `${string}Totp`> & Operations<PasskeyCalls | LateSignIns | "totp" | "passkeys"> {
  const parts: AccountParts = { ...core, claimsOf, hold, unexpected };
  if (core.ask) core.sessions.stepUp = () => import("./account.js").then((account) => account.stepUp(parts), () => false);
  const { beginTotp, confirmTotp, renameTotp, removeTotp, ...operations } = late<AccountOperations>(OF_ACCOUNT, async () =>
    (await import("./account.js")).createAccount(parts),
  );
  const { register, list, rename, remove, ...signIns } = late<PasskeyOperations>(
    "signInWithPasskey answerChallengeWithPasskey register list rename remove",
    async () =>
      (await import("./passkeys.js")).createPasskeys({
        ...core,
        answer: operations.answerChallenge as PasskeyParts["answer"],
        bytesOf,
        base64url,
        LatchkeyError,
      }),
  );
  return {
    ...operations,
    ...signIns,
    ...late<Operations<LateSignIns>>("signInWithOtp verifyOtp verifyEmail signInWithIdToken", async () =>
      (await import("./oauth-flow.js")).createLateSignIns({ ...core, base64url, LatchkeyError }),
    ),
    totp: { begin: beginTotp, confirm: confirmTotp, rename: renameTotp, remove: removeTotp },
    passkeys: { register, list, rename, remove, isSupported: () => typeof PublicKeyCredential === "function" },
  };
}
