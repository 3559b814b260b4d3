// Pages, and the actions of their forms. An action ends with a redirect, or with the form and its error.
import { account, forgot, newPassword, signIn, signUp, verify } from "./views.mjs";

const HOME = { redirect: "/" };

/**
 * Messages of the start page, by the code in its URL, from an emailed link or our own redirect. The text itself is never taken
 * from the URL, which anyone can write.
 */
const NOTICES = {
  success: "Your address is verified. Sign in now.",
  error: "That link is not good any more. Ask for a new mail.",
  mailed: "Open the link in the mail that we sent.",
  changed: "Your password is changed. Sign in with the new one.",
};
const noticeOf = ({ notice, service_status: status }) => {
  const code = notice ?? status;
  return Object.hasOwn(NOTICES, code ?? "") ? NOTICES[code] : undefined;
};

/** Routes by GET. */
export const pages = {
  "/": async ({ client, fields }) => {
    const { data, error } = await client.auth.getCurrentUser();
    if (error) return { status: 503, ...signIn({ error }) };
    if (!data.user) {
      const { data: config } = await client.auth.getPublicConfig();
      const providers = [...(config?.oAuthProviders ?? []), ...(config?.customOAuthProviders ?? [])];
      return signIn({ notice: noticeOf(fields), providers });
    }
    // The session was already refreshed above if needed; a request refreshes at most once.
    const [profile, sessions] = await Promise.all([client.profiles.me(), client.auth.listSessions()]);
    return account({ user: data.user, profile: profile.data, sessions: sessions.data?.sessions ?? [] });
  },
  "/sign-up": async () => signUp({}),
  "/verify": async ({ fields }) => verify({ email: fields.email }),
  "/forgot": async () => forgot({}),
  "/new-password": async ({ fields }) =>
    fields.service_status === "ready" && fields.token
      ? newPassword({ otp: fields.token })
      : { redirect: "/?notice=error" },
  "/oauth/callback": async ({ client, fields }) => {
    const { error } = await client.auth.exchangeOAuthCode(fields.service_code ?? "");
    return error ? signIn({ error }) : HOME;
  },
};

/** Routes by POST. */
export const actions = {
  "/sign-in": async ({ client, fields }) => {
    const { email, password } = fields;
    const { error } = await client.auth.signInWithPassword({ email, password });
    return error ? { status: 400, ...signIn({ error, email }) } : HOME;
  },
  "/sign-up": async ({ client, fields, origin }) => {
    const { email, password, name } = fields;
    const { data, error } = await client.auth.signUp({ email, password, name, redirectTo: `${origin}/` });
    if (error) return { status: 400, ...signUp({ error, email, name }) };
    if (!data.requireEmailVerification) return HOME;
    const { data: config } = await client.auth.getPublicConfig();
    const isCode = config?.verifyEmailMethod === "code";
    return { redirect: isCode ? `/verify?email=${encodeURIComponent(email)}` : "/?notice=mailed" };
  },
  "/verify": async ({ client, fields }) => {
    const { email, otp } = fields;
    const { error } = await client.auth.verifyEmail({ email, otp });
    return error ? { status: 400, ...verify({ error, email }) } : HOME;
  },
  "/forgot": async ({ client, fields, origin }) => {
    const { email } = fields;
    const { error } = await client.auth.sendResetPasswordEmail({ email, redirectTo: `${origin}/new-password` });
    return error ? { status: 400, ...forgot({ error, email }) } : newPassword({ email });
  },
  "/new-password": async ({ client, fields }) => {
    const { email, code, newPassword: wanted } = fields;
    let { otp } = fields;
    if (code) {
      const { data, error } = await client.auth.exchangeResetPasswordToken({ email, code });
      if (error) return { status: 400, ...newPassword({ error, email }) };
      otp = data.token;
    }
    const { error } = await client.auth.resetPassword({ newPassword: wanted, otp });
    if (error) return { status: 400, ...newPassword({ error, otp }) };
    return { redirect: "/?notice=changed" };
  },
  "/oauth": async ({ client, fields, origin }) => {
    const redirectTo = `${origin}/oauth/callback`;
    const { data, error } = await client.auth.signInWithOAuth({ provider: fields.provider, redirectTo });
    return error ? { status: 400, ...signIn({ error }) } : { redirect: data.url };
  },
  "/profile": async ({ client, fields }) => {
    const { name, bio } = fields;
    const { error } = await client.profiles.update({ name, bio: bio || null });
    if (!error) return HOME;
    const { data } = await client.auth.getCurrentUser();
    return data?.user ? { status: 400, ...account({ error, user: data.user, profile: { name, bio }, sessions: [] }) } : HOME;
  },
  "/sign-out": async ({ client }) => {
    await client.auth.signOut();
    return HOME;
  },
};
