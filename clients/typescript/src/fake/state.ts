// State of a fake client: accounts, the session, the clock and the injected faults. Operations are in operations.ts.
import type { AuthListener } from "../contract.js";
import { createSteps, type Factors, totpAt } from "./factors.js";
import { createPasskeys } from "./passkeys.js";
import { type ErrorCode, type ErrorDetails, LatchkeyError, type Result } from "../errors.js";
import type { RedirectResult } from "../redirect.js";
import type { AuthEvent } from "../session-store.js";
import type { FakeControls, FakeFault, FakeOperation, FakeOptions, FakeUser } from "../testing.js";
import type {
  BegunEmailChange,
  Challenge,
  OwnEvent,
  Passkey,
  ProfileRecord,
  Reauthenticated,
  Refreshed,
  ResetToken,
  Session,
  User,
} from "../types.js";

/** Account of a fake. */
export interface Account {
  /** Replaced by each change, because sessions share it. */
  user: User;
  password: string | undefined;
  profile: ProfileRecord;
  /** Version of the profile. */
  etag: string;
  /** Custom fields of the flat profile. */
  custom: Record<string, unknown>;
  factors: Factors;
  passkeys: Passkey[];
  /** Newest code, or the reset token for which it was exchanged. */
  code?: string | undefined;
  locale: string | null;
  sessionName: string | null;
  /** Sign-ins, oldest first. */
  events: OwnEvent[];
  /** Change of the address in progress; without a code if the new one is taken. */
  change?: (Omit<BegunEmailChange, "success" | "message"> & { newEmail: string; newCode: string | undefined }) | undefined;
  /** End of the grace period of a deletion. */
  deletesAt?: string | undefined;
}

/** Input of a new account. */
type NewAccount = { [Key in Exclude<keyof FakeUser, "twoStep" | "passkey">]?: FakeUser[Key] | undefined } & { email: string };

/** Response of operations without data. */
export const DONE = { success: true as const, message: "Done." };

/** Throws the error of an operation, which becomes its result. */
export function refuse(statusCode: number, error: ErrorCode, details?: ErrorDetails & { challenge?: Challenge<ResetToken> }): never {
  throw new LatchkeyError(statusCode, error, error, details);
}

/** Minimum length of a password. */
export const MIN_PASSWORD = 8;

/** Refuses a weak password. */
export function strong(password: string): void {
  if (password.length < MIN_PASSWORD) refuse(400, "WEAK_PASSWORD", { reasons: ["too_short"] });
}

/** Operations that return their data and throw their errors. */
export type Works<T> = {
  [Name in Exclude<keyof T, "totp" | "passkeys" | "isSupported">]?: T[Name] extends (...input: infer Input) => Promise<infer Output>
    ? (...input: Input) => Extract<Output, { error: null }> extends { data: infer Data } ? Data | Promise<Data> : never
    : never;
};

/** State of one fake client. */
export type State = Omit<FakeState, "controls" | "steps" | "passkeys">;

/** State with its test controls, its two-step sign-in and its passkeys. */
export type FakeState = ReturnType<typeof createState>;

/** Creates the state of one fake client. */
export function createState(options: FakeOptions) {
  const { now = new Date("2026"), requireEmailVerification = false, tokenLife = 900, onReauthenticationRequired } = options;
  let time = +now;
  let serial = 0;
  const life = tokenLife * 1000;
  const faults: { operation: FakeOperation; fault: FakeFault; times: number }[] = [];
  const accounts: Account[] = [];

  const state = {
    accounts,
    listeners: new Set<AuthListener>(),
    session: null as Session | null,
    outcome: null as RedirectResult | null,
    mustVerify: requireEmailVerification,
    /** Authentication of the session, and that of its access token, which a step-up makes later. */
    opened: { at: 0, level: 1 },
    shown: { at: 0, level: 1 },
    /** Challenge to answer. */
    challenge: undefined as Challenge | undefined,
    /** Session that the service ended, unknown to the client. */
    ended: null as Session | null,

    now: () => time,
    at: (later = 0) => new Date(time + later).toISOString(),
    newId: () => `00000000-0000-4000-8000-${1e11 + ++serial}`,
    newCode: () => `${1e5 + ++serial}`,
    find: (one?: { email?: string | undefined } | null) =>
      accounts.find(({ user }) => user.email.toLowerCase() === one?.email?.toLowerCase()),

    /** Whether a refresh is due: a minute before expiry with the default life. */
    isDue: () => time >= +(state.session?.expiresAt ?? Infinity) - life / 15,

    /** Session, refreshed if it is due. */
    fresh: () => (state.isDue() || state.session === state.ended ? state.refresh() : state.session),

    /** Account of the session; an error without one. */
    own: () => state.find(state.fresh()?.user) ?? refuse(401, "AUTH_UNAUTHORIZED"),

    add({ email, password, name = "", metadata = {}, emailVerified = true }: NewAccount): Account {
      const now = state.at();
      const id = state.newId();
      const face = { name, avatar_url: null };
      const account: Account = {
        password,
        factors: { twoStep: false, totp: [], recoveryCodes: [] },
        passkeys: [],
        locale: null,
        sessionName: null,
        events: [],
        custom: {},
        etag: state.newId(),
        user: {
          id,
          email,
          emailVerified,
          providers: password ? ["email"] : [],
          createdAt: now,
          updatedAt: now,
          profile: face,
          metadata,
        },
        profile: { id: state.newId(), auth_id: id, ...face, bio: null, metadata: {}, created_at: now, updated_at: now },
      };
      accounts.push(account);
      return account;
    },

    open(account: Account, event: AuthEvent = "SIGNED_IN", level = 1): Refreshed {
      state.outcome = null;
      if (event === "SIGNED_IN") {
        state.opened = { at: time, level };
        account.events.unshift({ id: state.newId(), at: state.at(), kind: "sign_in", ip: null, device: "Fake device", current: true, details: {} });
      }
      state.shown = state.opened;
      return state.tell(event, { user: account.user, accessToken: state.newId(), expiresAt: new Date(time + life) });
    },

    /** Makes the session fresh; a refresh forgets it. */
    freshen(account: Account): Reauthenticated {
      const session = { user: account.user, accessToken: state.newId(), expiresAt: new Date(time + life) };
      state.tell("REAUTHENTICATED", session);
      state.shown = { at: time, level: account.factors.twoStep ? 2 : 1 };
      return { ...session, expiresAt: state.at(life) };
    },

    /** Refreshes; if the service ended the session, the client signs out. */
    refresh(): Refreshed | null {
      const account = state.session !== state.ended && state.find(state.session?.user);
      return account ? state.open(account, "TOKEN_REFRESHED") : state.leave();
    },

    /** Signs out, if there is a session. */
    leave: () => state.session && state.tell("SIGNED_OUT", null),

    /** Changes the profile of an account and notifies listeners. */
    change(account: Account, changes: object): void {
      const updatedAt = state.at();
      account.etag = state.newId();
      account.profile = { ...account.profile, ...changes, updated_at: updatedAt };
      const { name, avatar_url } = account.profile;
      account.user = { ...account.user, updatedAt, profile: { name, avatar_url } };
      if (state.session) state.tell("USER_UPDATED", { ...state.session, user: account.user });
    },

    /** Issues a code to an address, if it has an account. */
    sendMail(to: { email: string }) {
      const account = state.find(to);
      if (account) account.code = state.newCode();
      return DONE;
    },

    /** Consumes a code; valid once. */
    redeem(account: Account | undefined, code: string): Account {
      if (!account || account.code !== code) return refuse(400, "INVALID_CODE");
      account.code = undefined;
      return account;
    },

    tell<Next extends Session | null>(event: AuthEvent, session: Next, challenge?: Challenge): Next {
      state.session = session;
      if (!["TOKEN_REFRESHED", "USER_UPDATED"].includes(event)) state.challenge = challenge;
      state.listeners.forEach((listener) => listener(event, session, null, challenge));
      return session;
    },

    hydrate(session: Session | null): void {
      state.session ??= session;
    },

    /** Wraps operations: records the call, applies faults, and turns a thrown error into the result. */
    operations<T>(works: Works<T>, prefix = ""): T {
      const made = works as Record<string, (...input: unknown[]) => unknown>;
      for (const [name, work] of Object.entries(made)) {
        made[name] = async (...input): Promise<Result<unknown>> => {
          const operation = (prefix + name) as FakeOperation;
          controls.calls.push({ operation, input });
          await null;
          try {
            if (controls.isOffline) refuse(0, "NETWORK_ERROR");
            const fault = faults.find((one) => ["*", operation].includes(one.operation) && one.times-- > 0)?.fault;
            if (fault) refuse(fault.statusCode, fault.error, fault);
            try {
              return { data: await work(...input), error: null };
            } catch (error) {
              if (!(await stepsUp(error))) throw error;
              return { data: await work(...input), error: null };
            }
          } catch (error) {
            if (error instanceof LatchkeyError) return { data: null, error };
            throw error;
          }
        };
      }
      return made as T;
    },
  };

  const steps = createSteps(state);
  const passkeys = createPasskeys(state, steps);

  /** Lets the app reauthenticate after a refusal; true if it did. */
  async function stepsUp(error: unknown): Promise<boolean> {
    const isAsked = (error as LatchkeyError).error === "REAUTHENTICATION_REQUIRED" && !state.challenge;
    if (!isAsked || !onReauthenticationRequired) return false;
    const { shown } = state;
    await onReauthenticationRequired(steps.reauthenticate()).catch(() => undefined);
    return state.shown !== shown;
  }

  const controls: FakeControls = {
    isOffline: false,
    calls: [],
    now: () => time,
    advance(milliseconds) {
      time += milliseconds;
      if (!controls.isOffline && state.isDue()) state.refresh();
    },
    addUser(user) {
      const account = state.add(user);
      if (user.twoStep) steps.equip(account);
      if (user.passkey) passkeys.add(account);
      return account.user;
    },
    totp: () => totpAt(time),
    choosePasskey: passkeys.choose,
    recoveryCodesOf: (email) => [...(state.find({ email })?.factors.recoveryCodes ?? [])],
    fail: (operation, fault, times = 1) => void faults.push({ operation, fault, times }),
    codeFor: (email) => accounts.find(({ change }) => change?.newEmail === email)?.change?.newCode ?? state.find({ email })?.code,
    endSessions() {
      state.ended = state.session;
    },
    redirect(result) {
      state.outcome = result;
    },
  };
  return Object.assign(state, { controls, steps, passkeys });
}
