// State of a fake client: accounts, the one session, the clock and the faults. Not here: the operations.
import type { AuthListener } from "../contract.js";
import { type ErrorCode, type ErrorDetails, LatchkeyError, type Result } from "../errors.js";
import type { RedirectResult } from "../redirect.js";
import type { AuthEvent } from "../session-store.js";
import type { FakeControls, FakeFault, FakeOperation, FakeOptions, FakeUser } from "../testing.js";
import type { Metadata, ProfileRecord, Session, SignedIn, User } from "../types.js";

/** Account of a fake. */
export interface Account {
  email: string;
  password: string | undefined;
  emailVerified: boolean;
  metadata: Metadata;
  profile: ProfileRecord;
  /** Counts the changes. */
  version: number;
  /** Custom fields of the flat profile. */
  custom: Record<string, unknown>;
  /** Newest code, or the reset token for which it was exchanged. */
  code?: string | undefined;
}

/** Throws the refusal of an operation, which becomes its result. */
export function refuse(statusCode: number, error: ErrorCode, details?: ErrorDetails & { message?: string }): never {
  throw new LatchkeyError(statusCode, error, `The fake refuses with ${error}.`, details);
}

/** User of an account. */
export const userOf = ({ email, password, emailVerified, metadata, profile }: Account): User => ({
  id: profile.auth_id,
  email,
  emailVerified,
  providers: password ? ["email"] : [],
  createdAt: profile.created_at,
  updatedAt: profile.updated_at,
  profile: { name: profile.name, avatar_url: profile.avatar_url },
  metadata,
});

/** State of one fake client. */
export type State = ReturnType<typeof createState>;

/** Creates the state of one fake client. */
export function createState({ now = new Date(Date.UTC(2026, 0)), requireEmailVerification = false, tokenLife = 900 }: FakeOptions) {
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
    /** Whether the service knows the session. */
    isGood: false,

    at: (later = 0) => new Date(time + later).toISOString(),
    newId: () => `00000000-0000-4000-8000-${1e11 + ++serial}`,
    find: (email: string | undefined) => accounts.find((one) => one.email.toLowerCase() === email?.toLowerCase()),

    /** Whether the token ends soon: a minute before the end of the default life. */
    isDue: () => time >= +(state.session?.expiresAt ?? Infinity) - life / 15,

    /** Session, refreshed if it is due. */
    fresh: () => (state.session && (state.isDue() || !state.isGood) ? state.refresh() : state.session),

    /** Account of the session; refused without one. */
    own: () => state.find(state.fresh()?.user.email) ?? refuse(401, "AUTH_UNAUTHORIZED"),

    add({ email, password, name = "", metadata = {}, emailVerified = true }: Partial<FakeUser> & { email: string }): Account {
      const [created_at, auth_id] = [state.at(), state.newId()];
      const faces = { name, avatar_url: null, bio: null, metadata: {} };
      const profile = { id: state.newId(), auth_id, ...faces, created_at, updated_at: created_at };
      const account: Account = { email, password, emailVerified, metadata, profile, custom: {}, version: 0 };
      accounts.push(account);
      return account;
    },

    open(account: Account, event: AuthEvent = "SIGNED_IN"): SignedIn {
      const [user, accessToken] = [userOf(account), `fake-token-${++serial}`];
      state.isGood = true;
      state.outcome = null;
      state.tell(event, { accessToken, user, expiresAt: new Date(time + life) });
      return { user, accessToken, csrfToken: "fake" };
    },

    /** Refreshes; if the service ended the session, it is over here too. */
    refresh(): Session | null {
      const account = state.isGood && state.find(state.session?.user.email);
      if (account) state.open(account, "TOKEN_REFRESHED");
      else if (state.session) state.tell("SIGNED_OUT", null);
      return state.session;
    },

    /** Tells the user of a changed account. */
    changed(account: Account): User {
      account.version++;
      account.profile.updated_at = state.at();
      const user = userOf(account);
      if (state.session?.user.id === user.id) state.tell("USER_UPDATED", { ...state.session, user });
      return user;
    },

    mail(account: Account | undefined) {
      if (account) account.code = `${1e5 + ++serial}`;
      return { success: true as const, message: "Sent." };
    },

    /** Takes a right code, which is good once. */
    byCode(email: string | undefined, code: string, field: string): Account {
      const account = state.find(email);
      if (!account?.code || account.code !== code) return refuse(400, "INVALID_CODE", { field });
      account.code = undefined;
      return account;
    },

    tell(event: AuthEvent, session: Session | null): void {
      state.session = session;
      for (const listener of [...state.listeners]) listener(event, session, null);
    },

    hydrate(session: Session | null): void {
      if (state.session || !session) return;
      state.session = session;
      state.isGood = true;
    },

    /** Runs an operation: the call is noted, faults come first, and a thrown refusal becomes the result. */
    async run<T>(operation: FakeOperation, input: unknown[], work: () => T): Promise<Result<T>> {
      controls.calls.push({ operation, input });
      await null;
      try {
        if (controls.isOffline) refuse(0, "NETWORK_ERROR");
        const due = faults.find((one) => one.times > 0 && ["*", operation].includes(one.operation));
        if (due) {
          due.times--;
          const { statusCode, error, ...details } = due.fault;
          refuse(statusCode, error, details);
        }
        return { data: work(), error: null };
      } catch (error) {
        if (error instanceof LatchkeyError) return { data: null, error };
        throw error;
      }
    },
  };

  const controls: FakeControls = {
    isOffline: false,
    calls: [],
    now: () => time,
    advance(milliseconds) {
      time += milliseconds;
      if (!controls.isOffline && state.isDue()) state.refresh();
    },
    addUser: (user) => userOf(state.add(user)),
    fail: (operation, fault, times = 1) => void faults.push({ operation, fault, times }),
    codeFor: (email) => state.find(email)?.code,
    endSessions() {
      state.isGood = false;
    },
    redirect(result) {
      state.outcome = result;
    },
  };
  return Object.assign(state, { controls });
}
