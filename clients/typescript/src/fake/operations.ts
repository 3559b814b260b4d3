// Operations of a fake client: each returns its data or throws its error; `operations` of the state wraps them in results.
import type { VerifiedToken } from "../access-token.js";
import type { Auth, OwnProfile, Passkeys, Profiles, Totp } from "../contract.js";
import type { Result } from "../errors.js";
import type { OAuthInput, OAuthStart } from "../oauth.js";
import type { SignOutInput } from "../sessions.js";
import type { SignedOut } from "../sign-out.js";
import type { FlatProfile, ProfileRecord, PublicProfile } from "../types.js";
import { createSelfService } from "./self-service.js";
import { type Account, DONE, MIN_PASSWORD, refuse, type FakeState, type State, strong, type Works } from "./state.js";

const byId = ({ accounts }: State, id: string): Account =>
  accounts.find(({ user }) => user.id === id) ?? refuse(404, "USER_NOT_FOUND");

const published = ({ profile: { metadata: _, updated_at: __, ...rest } }: Account): PublicProfile => rest;

const flat = (account: Account): FlatProfile => {
  const { id, createdAt, updatedAt } = account.user;
  const { auth_id: _, created_at: __, ...rest } = published(account);
  return { ...account.custom, ...rest, id, createdAt, updatedAt };
};

/** Creates the account operations. */
export function fakeAuth(state: FakeState): Auth {
  const start = (input: OAuthInput | string): OAuthStart => {
    const provider = typeof input === "string" ? input : input.provider;
    return { url: `https://provider.example/${provider}`, provider };
  };
  /** Signs in by the code of a fake provider, which is the user's email address. */
  const byAddress = (email: string) => steps.enter(state.find({ email }) ?? state.add({ email }));
  const { steps, passkeys } = state;
  /** Verifies the address by its code, and signs in. */
  const byCode = (input: { email?: string | undefined; otp: string }) => {
    const account = state.redeem(state.find(input), input.otp);
    account.user = { ...account.user, emailVerified: true };
    return steps.enter(account);
  };
  const works: Works<Auth> = {
    ...steps.works,
    ...passkeys.works,
    ...createSelfService(state, steps),
    signUp(input) {
      if (!/.@./.test(input.email)) refuse(400, "VALIDATION_ERROR");
      strong(input.password);
      const known = state.find(input);
      if (known && !state.mustVerify) refuse(409, "EMAIL_EXISTS");
      const account = known ?? state.add({ ...input, emailVerified: false });
      if (!state.mustVerify) return state.open(account);
      if (!account.user.emailVerified) state.sendMail(input);
      return { accessToken: null, requireEmailVerification: true };
    },
    signInWithPassword(input) {
      const account = state.find(input);
      if (!account || account.password !== input.password) return refuse(401, "INVALID_CREDENTIALS");
      if (state.mustVerify && !account.user.emailVerified) refuse(403, "EMAIL_NOT_VERIFIED");
      return steps.enter(account);
    },
    verifyEmail: byCode,
    // The token of a fake link is the code of its mail.
    verifyOtp: ({ email, otp, token }) =>
      byCode(token ? { email: state.accounts.find(({ code }) => code === token)?.user.email, otp: token } : { email, otp: otp ?? "" }),
    signInWithOtp(input) {
      const { email } = input;
      if (!state.find(input)) state.add({ email });
      return state.sendMail(input);
    },
    resendVerificationEmail: state.sendMail,
    signInWithOAuth: start,
    signInWithPages: ({ intent = "sign-in" } = {}) => ({ url: `https://service.example/auth/${intent}` }),
    linkIdentity: start,
    exchangeOAuthCode: byAddress,
    signInWithIdToken: ({ token }) => byAddress(token),

    sendResetPasswordEmail: state.sendMail,
    exchangeResetPasswordToken(input) {
      const account = state.redeem(state.find(input), input.code);
      account.code = state.newId();
      return { token: account.code, expiresAt: state.at(600_000) };
    },
    resetPassword({ newPassword, otp }) {
      strong(newPassword);
      const account = state.accounts.find(({ code }) => code === otp);
      if (account) steps.guardReset(account, otp);
      state.redeem(account, otp).password = newPassword;
      state.outcome = null;
      if (state.session?.user.id === account?.user.id) state.leave();
      return DONE;
    },
    changePassword({ currentPassword, newPassword }) {
      const account = state.own();
      if (account.password !== currentPassword) refuse(401, "INVALID_CREDENTIALS");
      strong(newPassword);
      account.password = newPassword;
      return DONE;
    },

    getCurrentUser: () => ({ user: state.fresh()?.user ?? null }),
    getCurrentSession: () => ({ session: state.fresh() }),
    refreshSession: () => state.refresh() ?? refuse(401, "AUTH_UNAUTHORIZED"),
    verifyAccessToken(token) {
      if (state.session?.accessToken !== token) return refuse(401, "AUTH_UNAUTHORIZED");
      const { session } = state;
      return { claims: { sub: session.user.id, email: session.user.email, sid: "fake", aal: state.shown.level } as VerifiedToken["claims"] };
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
      emailSignIn: "code_and_link",
      secondFactor: "optional",
      passkeys: true,
      locales: ["en"],
    }),

    listIdentities: () => (state.own(), { identities: [] }),
    unlinkIdentity: () => (state.own(), refuse(404, "NOT_FOUND")),
    getProfile: (id) => flat(byId(state, id)),
    setProfile(input) {
      const account = state.own();
      const before = { ...account.user.profile, bio: account.profile.bio, ...account.custom };
      const { name, avatar_url, bio, ...custom } = { ...before, ...(input.profile ?? input) };
      account.custom = Object.fromEntries(Object.entries(custom).filter(([, value]) => value !== null));
      state.change(account, { name, avatar_url, bio });
      return flat(account);
    },
    // The result has no data.
    signOut: () => DONE as never,
  };
  const made = state.operations<Auth>(works);
  return {
    ...made,
    totp: state.operations<Totp>(steps.totp, "totp."),
    passkeys: { ...state.operations<Passkeys>(passkeys.passkeys, "passkeys."), isSupported: () => true },
    async signOut(options: SignOutInput = {}): Promise<SignedOut> {
      const isHere = options.scope !== "others";
      if (isHere) state.leave();
      const { error } = await made.signOut(options);
      return isHere && error?.statusCode === 0 ? { error, pending: true } : { error };
    },
    getRedirectResult: () => state.outcome,
    accountUrl: () => "https://service.example/auth/account",
    onAuthStateChange(callback) {
      let isWanted = true;
      queueMicrotask(() => {
        if (!isWanted) return;
        state.listeners.add(callback);
        callback("INITIAL_SESSION", state.session, null);
        if (state.challenge) callback("CHALLENGED", state.session, null, state.challenge);
      });
      return () => {
        isWanted = false;
        state.listeners.delete(callback);
      };
    },
  };
}

/** Creates the profile operations. */
export function fakeProfiles(state: State): Profiles {
  const tagged =
    <Input extends unknown[]>(work: (...input: Input) => Promise<Result<ProfileRecord>>) =>
    async (...input: Input): Promise<OwnProfile> => {
      const result = await work(...input);
      return { ...result, etag: result.data && state.own().etag };
    };
  const made = state.operations<Profiles>(
    {
      me: () => state.own().profile,
      update(changes, options) {
        const account = state.own();
        if (options?.ifMatch && options.ifMatch !== account.etag) refuse(412, "PRECONDITION_FAILED");
        state.change(account, changes);
        return account.profile;
      },
      search(input, more) {
        const { q, limit = 20, offset = 0 } = typeof input === "string" ? { ...more, q: input } : input;
        if (!q.trim()) refuse(400, "MISSING_QUERY");
        const matches = state.accounts.filter(({ profile: { name, username, bio } }) =>
          [name, username, bio].join("\n").toLowerCase().includes(q.toLowerCase()),
        );
        const profiles = matches.slice(offset, offset + limit).map(published);
        return { profiles, total: matches.length, page: Math.floor(offset / limit) + 1, pageSize: limit };
      },
      get: (id) => published(byId(state, id)),
    },
    "profiles.",
  );
  return { ...made, me: tagged(made.me), update: tagged(made.update) };
}
