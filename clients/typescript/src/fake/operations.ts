// Operations of a fake client, each as what it returns or refuses; `results` makes results of them.
import type { AccessTokenClaims } from "../claims.js";
import type { Auth, OwnProfile, Profiles } from "../contract.js";
import type { Result } from "../errors.js";
import type { OAuthInput, OAuthStart } from "../oauth.js";
import type { SignOutInput } from "../sessions.js";
import type { SignedOut } from "../sign-out.js";
import type { FakeOperation } from "../testing.js";
import type { FlatProfile, ProfileRecord, PublicProfile, SignedUp } from "../types.js";
import { type Account, refuse, type State } from "./state.js";

/** Operations that return their data and throw their refusals. */
type Works<T> = {
  [Name in keyof T]?: T[Name] extends (...input: infer Input) => Promise<infer Output>
    ? (...input: Input) => Extract<Output, { error: null }> extends { data: infer Data } ? Data : never
    : never;
};
/** The same with results. */
type Results<T, Own> = { [Name in keyof Own & keyof T]: T[Name] };

const MIN_PASSWORD = 8;
const DONE = { message: "Done." };

/** Makes operations of works. */
function results<T, Own extends Works<T>>(state: State, works: Own, prefix = ""): Results<T, Own> {
  const entries = Object.entries(works as Record<string, (...input: unknown[]) => unknown>).map(([name, work]) => [
    name,
    (...input: unknown[]) => state.run((prefix + name) as FakeOperation, input, () => work(...input)),
  ]);
  return Object.fromEntries(entries) as Results<T, Own>;
}

function strong(password: string, field: string): void {
  if (password.length < MIN_PASSWORD) refuse(400, "WEAK_PASSWORD", { field, reasons: ["too_short"] });
}

const byId = ({ accounts }: State, id: string): Account =>
  accounts.find(({ profile }) => profile.auth_id === id) ?? refuse(404, "USER_NOT_FOUND");

const flat = ({ profile, custom }: Account): FlatProfile => {
  const { auth_id: id, created_at: createdAt, updated_at: updatedAt, id: _, metadata: __, ...rest } = profile;
  return { ...custom, ...rest, id, createdAt, updatedAt };
};

/** Creates the account operations. */
export const fakeAuth = (state: State): Auth => ({ ...signingIn(state), ...passwords(state), ...ofSession(state), ...ofUser(state) });

const signingIn = (state: State) => {
  const { add, byCode, find, mail, mustVerify, open } = state;
  const start = (input: OAuthInput | string): OAuthStart => {
    const { provider } = typeof input === "string" ? { provider: input } : input;
    return { url: `https://provider.example/${provider}`, provider, codeVerifier: "fake" };
  };
  /** The code of a fake provider is the address of its user. */
  const byAddress = (email: string) => open(find(email) ?? add({ email }));
  const works = {
    signUp({ email, password, name }: Parameters<Auth["signUp"]>[0]): SignedUp {
      if (!/.@./.test(email)) refuse(400, "VALIDATION_ERROR", { field: "email" });
      strong(password, "password");
      const known = find(email);
      if (known && !mustVerify) refuse(409, "EMAIL_EXISTS");
      const account = known ?? add({ email, password, emailVerified: false, ...(name && { name }) });
      if (!mustVerify) return open(account);
      if (!account.emailVerified) mail(account);
      return { accessToken: null, requireEmailVerification: true, csrfToken: null };
    },
    signInWithPassword({ email, password }: Parameters<Auth["signInWithPassword"]>[0]) {
      const account = find(email);
      if (!account?.password || account.password !== password) return refuse(401, "INVALID_CREDENTIALS");
      if (mustVerify && !account.emailVerified) refuse(403, "EMAIL_NOT_VERIFIED");
      return open(account);
    },
    verifyEmail({ email, otp }: Parameters<Auth["verifyEmail"]>[0]) {
      const account = byCode(email, otp, "otp");
      account.emailVerified = true;
      return open(account);
    },
    resendVerificationEmail: ({ email }: { email: string }) => mail(find(email)),
    signInWithOAuth: start,
    linkIdentity: start,
    exchangeOAuthCode: byAddress,
    signInWithIdToken: ({ token }: { token: string }) => byAddress(token),
  };
  // The two forms of `signInWithOAuth` are one here.
  return results<Auth, Omit<typeof works, "signInWithOAuth"> & { signInWithOAuth: never }>(state, works as never);
};

const passwords = (state: State) => {
  const { accounts, at, byCode, find, mail, newId, own, tell } = state;
  return results<Auth, Required<Pick<Works<Auth>, "sendResetPasswordEmail" | "exchangeResetPasswordToken" | "resetPassword" | "changePassword">>>(
    state,
    {
      sendResetPasswordEmail: ({ email }) => mail(find(email)),
      exchangeResetPasswordToken({ email, code }) {
        const account = byCode(email, code, "code");
        account.code = newId();
        return { token: account.code, expiresAt: at(600_000) };
      },
      resetPassword({ newPassword, otp }) {
        strong(newPassword, "newPassword");
        const account = byCode(accounts.find(({ code }) => code === otp)?.email, otp, "otp");
        account.password = newPassword;
        state.outcome = null;
        if (state.session?.user.id === account.profile.auth_id) tell("SIGNED_OUT", null);
        return DONE;
      },
      changePassword({ currentPassword, newPassword }) {
        const account = own();
        if (account.password !== currentPassword) refuse(401, "INVALID_CREDENTIALS", { field: "currentPassword" });
        strong(newPassword, "newPassword");
        account.password = newPassword;
        return DONE;
      },
    },
  );
};

type SessionNames = "getCurrentUser" | "getCurrentSession" | "refreshSession" | "verifyAccessToken" | "getPublicConfig";

const ofSession = (state: State) => ({
  ...results<Auth, Required<Pick<Works<Auth>, SessionNames>>>(state, {
    getCurrentUser: () => ({ user: state.fresh()?.user ?? null }),
    getCurrentSession: () => ({ session: state.fresh() }),
    refreshSession() {
      const { user, accessToken, expiresAt } = state.refresh() ?? refuse(401, "AUTH_UNAUTHORIZED");
      return { user, accessToken, csrfToken: "fake", expiresAt: expiresAt as Date };
    },
    verifyAccessToken(token) {
      const { accessToken, user } = state.session ?? {};
      if (accessToken !== token) return refuse(401, "AUTH_UNAUTHORIZED");
      return { claims: { sub: user?.id, email: user?.email, sid: "fake" } as AccessTokenClaims };
    },
    getPublicConfig: () => ({
      oAuthProviders: [],
      customOAuthProviders: [],
      requireEmailVerification: state.mustVerify,
      passwordMinLength: MIN_PASSWORD,
      requireNumber: false,
      requireLowercase: false,
      requireUppercase: false,
      requireSpecialChar: false,
      verifyEmailMethod: "code",
      resetPasswordMethod: "code",
      disableSignup: false,
    }),
  }),
  async signOut(options: SignOutInput = {}): Promise<SignedOut> {
    const isHere = options.scope !== "others";
    if (isHere && state.session) state.tell("SIGNED_OUT", null);
    const { error } = await state.run("signOut", [options], () => isHere && state.controls.endSessions());
    return isHere && error?.statusCode === 0 ? { error, pending: true } : { error };
  },
  getRedirectResult: () => state.outcome,
  onAuthStateChange(callback: Parameters<Auth["onAuthStateChange"]>[0]) {
    let isWanted = true;
    void Promise.resolve().then(() => {
      if (!isWanted) return;
      state.listeners.add(callback);
      callback("INITIAL_SESSION", state.session, null);
    });
    return () => {
      isWanted = false;
      state.listeners.delete(callback);
    };
  },
});

type UserNames =
  | "listIdentities"
  | "unlinkIdentity"
  | "getProfile"
  | "setProfile"
  | "listSessions"
  | "endSession"
  | "endOtherSessions";

const ofUser = (state: State) => {
  const { changed, controls, own, tell } = state;
  const ended = (endedCount: number) => ({ success: true as const, ...DONE, endedCount });
  return results<Auth, Required<Pick<Works<Auth>, UserNames>>>(state, {
    listIdentities: () => (own(), { identities: [] }),
    unlinkIdentity: () => (own(), refuse(404, "NOT_FOUND")),
    getProfile: (id) => flat(byId(state, id)),
    setProfile(input) {
      const account = own();
      const changes = (input.profile ?? input) as Record<string, unknown>;
      for (const [key, value] of Object.entries(changes)) {
        if (["name", "avatar_url", "bio"].includes(key)) Object.assign(account.profile, { [key]: value });
        else if (value === null) delete account.custom[key];
        else account.custom[key] = value;
      }
      changed(account);
      return flat(account);
    },
    listSessions() {
      const at = own().profile.created_at;
      return { sessions: [{ id: "fake", createdAt: at, lastSeenAt: at, userAgent: "", ip: "", current: true }] };
    },
    endSession(id) {
      own();
      if (id !== "fake") refuse(404, "NOT_FOUND");
      controls.endSessions();
      tell("SIGNED_OUT", null);
      return ended(1);
    },
    endOtherSessions: () => (own(), ended(0)),
  });
};

const published = ({ metadata: _, updated_at: __, ...profile }: ProfileRecord): PublicProfile => profile;

const tagOf = ({ version }: Account): string => `"${version}"`;

/** Creates the profile operations. */
export function fakeProfiles(state: State): Profiles {
  const { accounts, changed, own } = state;
  const withTag = (result: Result<ProfileRecord>): OwnProfile => ({ ...result, etag: result.data && tagOf(own()) });
  const { me, update, ...others } = results<Profiles, Required<Works<Profiles>>>(
    state,
    {
      me: () => own().profile,
      update(changes, options) {
        const account = own();
        if (options?.ifMatch && options.ifMatch !== tagOf(account)) refuse(412, "PRECONDITION_FAILED");
        account.profile = { ...account.profile, ...changes } as ProfileRecord;
        changed(account);
        return account.profile;
      },
      search(input, more) {
        const { q, limit = 20, offset = 0 } = typeof input === "string" ? { ...more, q: input } : input;
        if (!q.trim()) refuse(400, "MISSING_QUERY", { field: "q" });
        const matches = accounts.filter(({ profile: { name, username, bio } }) =>
          [name, username, bio].join("\n").toLowerCase().includes(q.toLowerCase()),
        );
        const profiles = matches.slice(offset, offset + limit).map(({ profile }) => published(profile));
        return { profiles, total: matches.length, page: Math.floor(offset / limit) + 1, pageSize: limit };
      },
      get: (id) => published(byId(state, id).profile),
    },
    "profiles.",
  );
  return {
    ...others,
    me: async () => withTag(await me()),
    update: async (...input) => withTag(await update(...input)),
  };
}
