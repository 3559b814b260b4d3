// Two-step sign-in of a fake client: challenges, authenticator apps and recovery codes.
import type { Auth, ChallengeAnswer, Totp } from "../contract.js";
import type { LatchkeyError } from "../errors.js";
import type { Account as OwnAccount, Challenge, ChallengeKind, Entrance, Reauthenticated, Refreshed, TotpFactor } from "../types.js";
import { type Account, DONE, refuse, type State, type Works } from "./state.js";

/** Milliseconds for which an authentication is fresh, and for which challenges and enrolments live. */
const WINDOW = 600_000;
/** Wrong answers that a challenge survives, plus one. */
const ATTEMPTS = 5;
/** Milliseconds of one code of an authenticator app. */
const STEP = 30_000;

/** Factors of an account. */
export interface Factors {
  twoStep: boolean;
  totp: TotpFactor[];
  /** App in enrolment. */
  begun?: TotpFactor | undefined;
  recoveryCodes: string[];
  /** Last accepted code. */
  used?: string;
  /** Reset token for which a second factor was given. */
  reset?: string;
}

type Purpose = "signIn" | "restore" | "reauthenticate" | "reset";

interface Asked {
  account: Account;
  purpose: Purpose;
  challenge: Challenge<any>;
  attempts: number;
  /** Level of the session that the answer opens. */
  level: number;
}

/** Code that every authenticator app shows at this time. */
export const totpAt = (time: number): string => `${Math.floor(time / STEP) % 1e6}`.padStart(6, "0");

/** Two-step sign-in of one fake client. */
export type Steps = ReturnType<typeof createSteps>;

/** Creates the two-step sign-in of one fake client. */
export function createSteps(state: State) {
  const open = new Map<string, Asked>();
  const codes = (): string[] =>
    Array.from({ length: 10 }, () => state.newId().replaceAll("-", "").slice(-16).replace(/.{4}(?=.)/g, "$&-"));

  /** Until when the authentication of the session is fresh; null if it lacks the second factor. */
  const freshUntil = ({ factors }: Account): number | null =>
    factors.twoStep && state.shown.level < 2 ? null : state.shown.at + WINDOW;

  /** Account of the session, for calls that need a fresh authentication. */
  const recent = (): Account => {
    const account = state.own();
    return (freshUntil(account) ?? 0) >= state.now() ? account : refuse(403, "REAUTHENTICATION_REQUIRED");
  };

  const kindsOf = ({ factors, passkeys, password, user }: Account, purpose: Purpose): ChallengeKind[] => {
    if (purpose === "restore") return [purpose];
    const { twoStep, totp, recoveryCodes } = factors;
    if (!twoStep && purpose !== "reauthenticate") return [];
    const has: { [Kind in ChallengeKind]?: unknown } = {
      passkey: passkeys.length,
      totp: twoStep && totp.length,
      recovery_code: twoStep && recoveryCodes.length,
      password: !twoStep && password,
      email_code: !twoStep && !password && user.emailVerified,
    };
    return (Object.keys(has) as ChallengeKind[]).filter((kind) => has[kind]);
  };

  const ask = (account: Account, purpose: Purpose, level = 2): Challenge<any> => {
    const kinds = kindsOf(account, purpose);
    if (!kinds.length) refuse(403, "REAUTHENTICATION_REQUIRED");
    const challenge = { id: state.newId(), kinds, expiresAt: state.at(WINDOW) };
    open.set(challenge.id, { account, purpose, challenge, attempts: 0, level });
    return challenge;
  };

  /** Session or challenge after a first factor, or with level 2 after all factors. */
  const enter = (account: Account, level = 1): Entrance => {
    const isAsked = level < 2 && account.factors.twoStep;
    if (!isAsked && !account.deletesAt) return state.open(account, "SIGNED_IN", level);
    const challenge = isAsked ? ask(account, "signIn") : ask(account, "restore", level);
    state.tell("CHALLENGED", state.session, challenge);
    return { challenge };
  };

  const reauthenticate = (): Challenge<Reauthenticated> => {
    const challenge = ask(state.own(), "reauthenticate");
    state.tell("CHALLENGED", state.session, challenge);
    return challenge;
  };

  const isRight = (account: Account, { kind, code = "", password }: ChallengeAnswer): boolean => {
    const { factors } = account;
    const given = code.toLowerCase().replace(/[^a-z0-9]/g, "");
    if (kind === "restore") return true;
    if (kind === "password") return account.password === password;
    if (kind === "email_code") return account.code === given;
    if (kind === "recovery_code") {
      const left = factors.recoveryCodes.filter((one) => one.replaceAll("-", "") !== given);
      const isOne = left.length < factors.recoveryCodes.length;
      factors.recoveryCodes = left;
      return isOne;
    }
    const isNow = kind === "totp" && given === totpAt(state.now()) && given !== factors.used;
    if (isNow) factors.used = given;
    return isNow;
  };

  /** Outcome of a challenge, if `judge` does not refuse the answer. */
  const answer = ({ challenge: { id }, kind }: ChallengeAnswer, judge: (account: Account) => void): unknown => {
    const asked = open.get(id);
    if (!asked || state.at() >= asked.challenge.expiresAt) return refuse(401, "INVALID_CHALLENGE");
    if (!asked.challenge.kinds.includes(kind)) refuse(400, "VALIDATION_ERROR", { field: "kind" });
    const { account, purpose } = asked;
    try {
      judge(account);
    } catch (error) {
      const isWrong = (error as LatchkeyError).statusCode === 401;
      if (isWrong && ++asked.attempts === ATTEMPTS) open.delete(id);
      throw error;
    }
    open.delete(id);
    if (purpose === "restore") account.deletesAt = undefined;
    if (purpose === "restore" || purpose === "signIn") return enter(account, asked.level);
    if (purpose === "reauthenticate") return state.freshen(account);
    account.code = account.factors.reset = state.newId();
    return { token: account.code, expiresAt: state.at(WINDOW) };
  };

  /** Turns two-step sign-in on, in a new session. */
  const turnOn = (account: Account): Refreshed & { recoveryCodes: string[] } => {
    const recoveryCodes = codes();
    Object.assign(account.factors, { twoStep: true, recoveryCodes });
    return { ...state.open(account, "SIGNED_IN", 2), recoveryCodes };
  };

  /** Enrolled app, with the code of now used up. */
  const enrol = (account: Account, name: string): TotpFactor => {
    const factor = { id: state.newId(), name, createdAt: state.at(), lastUsedAt: null };
    account.factors.totp.push(factor);
    return factor;
  };

  const totpOf = (account: Account, id: string): TotpFactor =>
    account.factors.totp.find((one) => one.id === id) ?? refuse(404, "NOT_FOUND");

  const totp: Works<Totp> = {
    begin({ name = "Authenticator" } = {}) {
      const account = recent();
      if (account.factors.totp.length > 1) refuse(409, "TOO_MANY_FACTORS");
      const factorId = state.newId();
      account.factors.begun = { id: factorId, name, createdAt: state.at(), lastUsedAt: null };
      const secret = "FAKE";
      return { factorId, secret, uri: `otpauth://totp/fake?secret=${secret}`, expiresAt: state.at(WINDOW) };
    },
    confirm({ factorId, code }) {
      const account = state.own();
      const { factors } = account;
      if (factors.begun?.id !== factorId) refuse(404, "NOT_FOUND");
      if (!isRight(account, { kind: "totp", code } as ChallengeAnswer)) refuse(401, "INVALID_SECOND_FACTOR");
      const factor = enrol(account, factors.begun?.name ?? "");
      factors.begun = undefined;
      return factors.twoStep ? { factor } : { ...turnOn(account), factor };
    },
    rename: (id, name) => ({ factor: Object.assign(totpOf(state.own(), id), { name }) }),
    remove(id) {
      const account = recent();
      const factor = totpOf(account, id);
      const { twoStep, totp } = account.factors;
      if (twoStep && totp.length + account.passkeys.length === 1) refuse(409, "LAST_SECOND_FACTOR");
      account.factors.totp = account.factors.totp.filter((one) => one !== factor);
      return DONE;
    },
  };

  type Names =
    | "getAccount"
    | "setTwoStep"
    | "replaceRecoveryCodes"
    | "answerChallenge"
    | "sendChallengeCode"
    | "reauthenticate";
  const accountOf = (account: Account): OwnAccount => {
    const { user, password, factors, change, locale } = account;
    const { at, level } = state.shown;
    const until = freshUntil(account);
    const isProven = (side: "new" | "current"): boolean => !change?.needs.includes(side);
    return {
      user,
      hasPassword: password !== undefined,
      twoStep: factors.twoStep,
      totp: [...factors.totp],
      passkeyCount: account.passkeys.length,
      recoveryCodesLeft: factors.recoveryCodes.length,
      level,
      authTime: new Date(at).toISOString(),
      freshUntil: until === null ? null : new Date(until).toISOString(),
      reauthenticateWith: kindsOf(account, "reauthenticate"),
      emailChange: change && state.at() < change.expiresAt
        ? { newEmail: change.newEmail, proven: (["new", "current"] as const).filter(isProven), expiresAt: change.expiresAt }
        : null,
      locale,
    };
  };

  const works: Works<Pick<Auth, Names>> = {
    getAccount: () => accountOf(state.own()),
    setTwoStep(enabled) {
      const account = recent();
      const { factors } = account;
      if (enabled === factors.twoStep) return DONE;
      if (enabled && !factors.totp.length && !account.passkeys.length) refuse(409, "LAST_SECOND_FACTOR");
      if (enabled) return turnOn(account);
      account.factors = { twoStep: false, totp: [], recoveryCodes: [] };
      return DONE;
    },
    replaceRecoveryCodes() {
      const { factors } = recent();
      if (!factors.twoStep) refuse(409, "LAST_SECOND_FACTOR");
      factors.recoveryCodes = codes();
      return { recoveryCodes: [...factors.recoveryCodes] };
    },
    reauthenticate: () => ({ challenge: reauthenticate() }),
    sendChallengeCode({ challenge }) {
      const asked = open.get(challenge.id);
      return asked ? state.sendMail(asked.account.user) : refuse(401, "INVALID_CHALLENGE");
    },
    answerChallenge: (input) =>
      answer(input, (account) => {
        if (input.kind === "passkey") refuse(400, "VALIDATION_ERROR", { field: "credential" });
        if (isRight(account, input)) return;
        refuse(401, input.kind === "password" ? "INVALID_CREDENTIALS" : "INVALID_SECOND_FACTOR");
      }) as never,
  };

  return {
    works,
    totp,
    enter,
    accountOf,
    recent,
    answer,
    reauthenticate,
    /** Challenge of a reset, unless a second factor was given. */
    guardReset(account: Account, otp: string): void {
      if (!account.factors.twoStep || account.factors.reset === otp) return;
      refuse(403, "SECOND_FACTOR_REQUIRED", { challenge: ask(account, "reset") });
    },
    /** Gives an account an app and recovery codes. */
    equip(account: Account): void {
      enrol(account, "Authenticator");
      Object.assign(account.factors, { twoStep: true, recoveryCodes: codes() });
    },
  };
}
