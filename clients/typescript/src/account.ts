// Challenges, two-step sign-in, sessions and passwords; with them self-service.ts and profiles. Loaded on first use: a visitor who
// only signs in does not need them. Parts of the core are passed in, not imported: bundlers would put shared modules into a
// third file.
import { type AccountParts, at, plain, post, replaceToken, send } from "./account-calls.js";
import type { Auth, ChallengeAnswer } from "./contract.js";
import type { Result } from "./errors.js";
import { createSelfService, type SelfServiceCalls } from "./self-service.js";
import type { Sessions } from "./sessions.js";
import type { Request } from "./transport.js";
import type {
  Account,
  BegunTotp,
  Challenge,
  EndedSessions,
  FlatProfile,
  MailSent,
  Message,
  Reauthenticated,
  TwoStepSet,
  Unlinked,
} from "./types.js";
import type { SessionAnswer, WireProfile } from "./wire.js";

export { createProfiles } from "./profiles.js";

/** Operations loaded on first use, under their names in `auth`; those of `auth.totp` carry its name. */
export interface AccountOperations
  extends Pick<
    Auth,
    | "listIdentities"
    | "unlinkIdentity"
    | "changePassword"
    | "listSessions"
    | "endSession"
    | "endOtherSessions"
    | "getAccount"
    | "setTwoStep"
    | "replaceRecoveryCodes"
    | "answerChallenge"
    | "sendChallengeCode"
    | "reauthenticate"
    | "getProfile"
    | "setProfile"
    | "resendVerificationEmail"
    | "sendResetPasswordEmail"
    | "exchangeResetPasswordToken"
    | "resetPassword"
    | SelfServiceCalls
  > {
  beginTotp: Auth["totp"]["begin"];
  confirmTotp: Auth["totp"]["confirm"];
  renameTotp: Auth["totp"]["rename"];
  removeTotp: Auth["totp"]["remove"];
}

/** Creates the operations of one client. */
export const createAccount = (parts: AccountParts): AccountOperations => ({
  ...ofAccount(parts),
  ...ofFactors(parts),
  ...ofChallenges(parts),
  ...ofProfile(parts),
  ...ofMails(parts),
  ...createSelfService(parts),
});

type Operations<Names extends keyof AccountOperations> = Pick<AccountOperations, Names>;

const FACTORS = "/api/auth/factors";
const TOTP = `${FACTORS}/totp`;

function ofAccount(
  parts: AccountParts,
): Operations<
  "listIdentities" | "unlinkIdentity" | "changePassword" | "listSessions" | "endSession" | "endOtherSessions" | "getAccount"
> {
  const { store } = parts.sessions;
  return {
    listIdentities: () => send(parts, "GET", "/api/auth/identities"),
    async unlinkIdentity({ provider, subject }) {
      const result = await send<Unlinked>(parts, "DELETE", at("identities", provider), { query: { subject } });
      if (result.data) store.updateUser(result.data.user);
      return result;
    },
    changePassword: ({ currentPassword, newPassword }) =>
      send(parts, "POST", "/api/auth/password", { body: { currentPassword, newPassword } }),
    listSessions: () => send(parts, "GET", "/api/auth/sessions", { query: { details: "true" } }),
    async endSession(id) {
      const result = await send<EndedSessions>(parts, "DELETE", at("sessions", id));
      const { current } = store;
      // The own session: signed out here too.
      if (result.data && current && parts.claimsOf(current.accessToken).sid === id.toLowerCase()) store.end();
      return result;
    },
    endOtherSessions: () => send(parts, "DELETE", "/api/auth/sessions", { query: { others: "true" } }),
    async getAccount() {
      const result = await send<Account>(parts, "GET", "/api/auth/account");
      if (result.data) store.updateUser(result.data.user);
      return result;
    },
  };
}

function ofFactors(
  parts: AccountParts,
): Operations<"beginTotp" | "confirmTotp" | "renameTotp" | "removeTotp" | "setTwoStep" | "replaceRecoveryCodes"> {
  return {
    // An enrolment that the sign-in requires has a challenge instead of a session.
    beginTotp: async ({ name, challenge } = {}) =>
      challenge
        ? post<BegunTotp>(parts, TOTP, { name, challengeId: challenge.id })
        : send(parts, "POST", TOTP, { body: { name } }),
    confirmTotp: ({ factorId, code, challenge }) =>
      enter(parts, { method: "POST", path: `${TOTP}/confirm`, body: { factorId, code, challengeId: challenge?.id } }),
    renameTotp: (id, name) => send(parts, "PATCH", at("factors/totp", id), { body: { name } }),
    removeTotp: (id) => send(parts, "DELETE", at("factors/totp", id)),
    async setTwoStep(enabled) {
      const request = { method: "POST", path: `${FACTORS}/two-step`, body: { enabled } } as const;
      const result = await enter<TwoStepSet>(parts, request);
      const isRefused = result.error?.error === "REAUTHENTICATION_REQUIRED";
      return isRefused && (await parts.sessions.stepUp?.()) ? enter(parts, request) : result;
    },
    replaceRecoveryCodes: () => send(parts, "POST", `${FACTORS}/recovery-codes`, { body: {} }),
  };
}

function ofChallenges(parts: AccountParts): Operations<"answerChallenge" | "sendChallengeCode" | "reauthenticate"> {
  return {
    // Keys are listed, so that extra properties of the input are not sent. passkeys.ts adds the credential.
    answerChallenge: ({ challenge, kind, code, password, credential }: ChallengeAnswer<any> & { credential?: object }) =>
      enter(parts, {
        method: "POST",
        path: "/api/auth/challenges/answer",
        body: { challengeId: challenge.id, kind, code, password, credential },
      }),
    sendChallengeCode: async ({ challenge }) => {
      return post<MailSent>(parts, "/api/auth/challenges/send-code", { challengeId: challenge.id });
    },
    reauthenticate: () => reauthenticate(parts),
  };
}

/** Result without the nested copy for older clients. */
function flat(result: Result<WireProfile>): Result<FlatProfile> {
  if (result.error) return result;
  const { profile: _, ...data } = result.data;
  return { data, error: null };
}

function ofProfile(parts: AccountParts): Operations<"getProfile" | "setProfile"> {
  return {
    getProfile: async (id) => flat(plain(await parts.transport.send<WireProfile>({ method: "GET", path: at("profiles", id) }))),
    async setProfile(input) {
      const profile = typeof input.profile === "object" ? input.profile : input;
      const result = flat(await send<WireProfile>(parts, "PATCH", "/api/auth/profiles/current", { body: { profile } }));
      if (result.data) parts.sessions.store.updateProfile(result.data.id, result.data);
      return result;
    },
  };
}

function ofMails(
  parts: AccountParts,
): Operations<
  "resendVerificationEmail" | "sendResetPasswordEmail" | "exchangeResetPasswordToken" | "resetPassword"
> {
  const mail = <T>(path: string, body: object): Promise<Result<T>> => post(parts, `/api/auth/email/${path}`, body);
  return {
    resendVerificationEmail: ({ email, redirectTo, options }) => mail("send-verification", { email, redirectTo, options }),
    sendResetPasswordEmail: ({ email, redirectTo }) => mail("send-reset-password", { email, redirectTo }),
    exchangeResetPasswordToken: ({ email, code }) => mail("exchange-reset-password-token", { email, code }),
    async resetPassword({ newPassword, otp }) {
      const result = await mail<Message>("reset-password", { newPassword, otp });
      if (!result.error) {
        parts.oauth.forgetResult();
        parts.sessions.store.end();
      }
      return result;
    },
  };
}

/** Requests a challenge to the current session. Its refusal must not ask the app again. */
async function reauthenticate({ sessions }: AccountParts): ReturnType<Auth["reauthenticate"]> {
  type Answer = { challenge: Challenge<Reauthenticated> };
  const result = await sessions.sendOnce<Answer>({ method: "POST", path: "/api/auth/reauthenticate", body: {} });
  if (result.data) sessions.store.face(result.data.challenge);
  return plain(result);
}

/**
 * Sends a call whose response may be a session, under the lock of all tabs. A response without tokens for a refresh is the
 * same session with a fresh access token.
 */
async function enter<T>(parts: AccountParts, request: Request): Promise<Result<T>> {
  const { settings, sessions, transport, oauth, hold, unexpected } = parts;
  const { store } = sessions;
  // Before the lock, which a refresh takes itself.
  const { data: session } = await sessions.fresh();
  const query = { client_type: settings.clientType };
  return sessions.refresher.exclusively(async () => {
    const bearer = session?.accessToken;
    type Answer = SessionAnswer & { challenge?: Challenge };
    const { data, error } = await transport.send<Answer>({ ...request, query, bearer });
    if (error) return { data: null, error };
    // A captive portal responds to everything.
    if (!Object.keys(data).length) return { data: null, error: unexpected(200) };
    store.face(data.challenge);
    if (data.accessToken) {
      oauth.forgetResult();
      const isNew = data.csrfToken || data.refreshToken;
      if (isNew) store.take("SIGNED_IN", hold(data));
      else replaceToken(parts, "REAUTHENTICATED", data);
    }
    return { data: data as T, error: null };
  });
}

/** Step-ups in progress: the app is asked once, however many calls were refused. */
const asking = new WeakMap<Sessions, Promise<boolean>>();

/** Lets the app answer a new challenge; true if the session is fresh then. */
export function stepUp(parts: AccountParts): Promise<boolean> {
  const { sessions } = parts;
  const begun = asking.get(sessions);
  if (begun) return begun;
  const work = askOnce(parts).finally(() => asking.delete(sessions));
  asking.set(sessions, work);
  return work;
}

async function askOnce(parts: AccountParts): Promise<boolean> {
  const { data } = await reauthenticate(parts);
  if (!data) return false;
  let isFresh = false;
  const stop = parts.sessions.store.listen((event) => {
    if (event === "REAUTHENTICATED") isFresh = true;
    // Another user must not repeat the call.
    else if (event.startsWith("SIGNED")) isFresh = false;
  });
  try {
    await parts.ask?.(data.challenge);
  } catch {
    // The dialog of the app failed; what counts is the session.
  }
  stop();
  return isFresh;
}
