// Pages, and the actions of their forms: sign-in, sign-up, password reset and the profile. Settings are in settings.mjs. A route
// ends with a redirect, or with a view and its error.
import { settingsActions, settingsPage, settingsPages } from "./settings.mjs";

const HOME = { redirect: "/" };
const SETTINGS = { redirect: "/settings" };

/** What follows a first factor: the start page, or the question for the second, or an enrolment that the service requires. */
async function entered({ client, views, words }, { challenge: asked }) {
  if (!asked) return HOME;
  if (!asked.kinds.includes("enroll")) return views.challenge({ asked });
  const { data, error } = await client.auth.totp.begin({ name: words.t("Authenticator app"), challenge: asked });
  return error ? { status: 400, ...views.signIn({ error }) } : views.enrolment({ begun: data, asked });
}

/**
 * Messages of the start page, by the code in its URL, from an emailed link or our own redirect. The text itself is never taken
 * from the URL, which anyone can write.
 */
const NOTICES = {
  success: "Your address is verified. Sign in now.",
  error: "That link is not good any more. Ask for a new mail.",
  mailed: "Open the link in the mail that we sent.",
  changed: "Your password is changed. Sign in with the new one.",
  code: "This link works only in the browser that asked for it. The mail also has six digits: type them there.",
  deleted: "Your account is being deleted. You can still have it back: sign in and restore it.",
};
const noticeOf = ({ notice, service_status: status }) => {
  const code = notice ?? status;
  return Object.hasOwn(NOTICES, code ?? "") ? NOTICES[code] : undefined;
};

/** Routes by GET. */
export const pages = {
  ...settingsPages,
  "/": async ({ client, views, fields }) => {
    const { data, error } = await client.auth.getCurrentUser();
    if (error) return { status: 503, ...views.signIn({ error }) };
    if (!data.user) {
      const { data: config } = await client.auth.getPublicConfig();
      const providers = [...(config?.oAuthProviders ?? []), ...(config?.customOAuthProviders ?? [])];
      return views.signIn({ notice: noticeOf(fields), providers });
    }
    const profile = await client.profiles.me();
    return views.account({ user: data.user, profile: profile.data });
  },
  "/sign-up": async ({ views }) => views.signUp({}),
  "/verify": async ({ views, fields }) => views.verify({ email: fields.email }),
  "/forgot": async ({ views }) => views.forgot({}),
  "/new-password": async ({ views, fields }) =>
    fields.service_status === "ready" && fields.token
      ? views.newPassword({ otp: fields.token })
      : { redirect: "/?notice=error" },
  // Target of sign-in links. The verifier is in a cookie of the browser that asked: no other is signed in.
  "/mail-link": async (context) => {
    const { service_status: status, token } = context.fields;
    if (status !== "ready" || !token) return { redirect: "/?notice=error" };
    const { data, error } = await context.client.auth.verifyOtp({ token });
    return error ? { redirect: "/?notice=code" } : entered(context, data);
  },
  "/oauth/callback": async (context) => {
    const { data, error } = await context.client.auth.exchangeOAuthCode(context.fields.service_code ?? "");
    return error ? context.views.signIn({ error }) : entered(context, data);
  },
};

/** Routes by POST. */
export const actions = {
  ...settingsActions,
  "/sign-in": async (context) => {
    const { email, password } = context.fields;
    const { data, error } = await context.client.auth.signInWithPassword({ email, password });
    return error ? { status: 400, ...context.views.signIn({ error, email }) } : entered(context, data);
  },
  "/mail-code": async ({ client, views, fields, origin }) => {
    const { email } = fields;
    const { error } = await client.auth.signInWithOtp({ email, redirectTo: `${origin}/mail-link` });
    return error ? { status: 400, ...views.signIn({ error, email }) } : views.verify({ email, action: "/mail-code/verify" });
  },
  "/mail-code/verify": async (context) => {
    const { email, otp } = context.fields;
    const { data, error } = await context.client.auth.verifyOtp({ email, otp: otp.trim() });
    return error ? { status: 400, ...context.views.verify({ error, email, action: "/mail-code/verify" }) } : entered(context, data);
  },
  "/sign-up": async (context) => {
    const { client, views, fields, origin } = context;
    const { email, password, name } = fields;
    const { data, error } = await client.auth.signUp({ email, password, name, redirectTo: `${origin}/` });
    if (error) return { status: 400, ...views.signUp({ error, email, name }) };
    if (!data.requireEmailVerification) return entered(context, data);
    const { data: config } = await client.auth.getPublicConfig();
    const isCode = config?.verifyEmailMethod === "code";
    return { redirect: isCode ? `/verify?email=${encodeURIComponent(email)}` : "/?notice=mailed" };
  },
  "/verify": async (context) => {
    const { email, otp } = context.fields;
    const { data, error } = await context.client.auth.verifyEmail({ email, otp: otp.trim() });
    return error ? { status: 400, ...context.views.verify({ error, email }) } : entered(context, data);
  },
  "/forgot": async ({ client, views, fields, origin }) => {
    const { email } = fields;
    const { error } = await client.auth.sendResetPasswordEmail({ email, redirectTo: `${origin}/new-password` });
    return error ? { status: 400, ...views.forgot({ error, email }) } : views.newPassword({ email });
  },
  "/new-password": async ({ client, views, fields }) => {
    const { email, code, newPassword: wanted } = fields;
    let { otp } = fields;
    if (code) {
      const { data, error } = await client.auth.exchangeResetPasswordToken({ email, code });
      if (error) return { status: 400, ...views.newPassword({ error, email }) };
      otp = data.token;
    }
    const { error } = await client.auth.resetPassword({ newPassword: wanted, otp });
    // With two-step sign-in the answer to the challenge is the token that resets.
    if (error?.challenge) return views.challenge({ asked: error.challenge });
    if (error) return { status: 400, ...views.newPassword({ error, otp }) };
    return { redirect: "/?notice=changed" };
  },
  "/challenge": async (context) => {
    const { client, views, fields } = context;
    const { challenge: id, kinds, expiresAt, kind, other, answer = "" } = fields;
    const asked = { id, kinds: kinds.split(" "), expiresAt };
    if (other === "email_code") await client.auth.sendChallengeCode({ challenge: asked });
    if (other) return views.challenge({ asked, kind: other });
    const given = kind === "password" ? { password: answer } : { code: answer.trim() };
    const { data, error } = await client.auth.answerChallenge({ challenge: asked, kind, ...(kind !== "restore" && given) });
    if (error?.error === "INVALID_CHALLENGE") return { status: 400, ...views.signIn({ error }) };
    if (error) return { status: 400, ...views.challenge({ error, asked, kind }) };
    // A sign-in to an account in deletion asks once more.
    if (data.challenge) return entered(context, data);
    // The password was not stored meanwhile: it is typed again.
    if (data.token) return views.newPassword({ otp: data.token });
    // A step-up comes from the settings, a sign-in goes to the account.
    return data.expiresAt && !data.refreshToken ? SETTINGS : HOME;
  },
  "/totp/confirm": async (context) => {
    const { client, views, fields } = context;
    const { factorId, uri, secret, code } = fields;
    const asked = fields.challenge && { id: fields.challenge };
    const { data, error } = await client.auth.totp.confirm({ factorId, code: code.trim(), ...(asked && { challenge: asked }) });
    if (error) return { status: 400, ...views.enrolment({ error, begun: { factorId, uri, secret }, asked }) };
    return data.recoveryCodes ? views.recoveryCodes({ codes: data.recoveryCodes }) : settingsPage(context);
  },
  "/oauth": async ({ client, views, fields, origin }) => {
    const redirectTo = `${origin}/oauth/callback`;
    const { data, error } = await client.auth.signInWithOAuth({ provider: fields.provider, redirectTo });
    return error ? { status: 400, ...views.signIn({ error }) } : { redirect: data.url };
  },
  "/profile": async ({ client, views, fields }) => {
    const { name, bio } = fields;
    const { error } = await client.profiles.update({ name, bio: bio || null });
    if (!error) return HOME;
    const { data } = await client.auth.getCurrentUser();
    return data?.user ? { status: 400, ...views.account({ error, user: data.user, profile: { name, bio } }) } : HOME;
  },
  "/sign-out": async ({ client }) => {
    await client.auth.signOut();
    return HOME;
  },
};
