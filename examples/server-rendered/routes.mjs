// Pages, and the actions of their forms. An action ends with a redirect, or with the form and its error.
import { account, challenge, enrolment, forgot, newPassword, recoveryCodes, security, signIn, signUp, verify } from "./views.mjs";

const HOME = { redirect: "/" };
const SECURITY = { redirect: "/security" };

/** What follows a first factor: the start page, or the question for the second. */
async function entered(client, { challenge: asked }) {
  if (!asked) return HOME;
  if (!asked.kinds.includes("enroll")) return challenge({ asked });
  const { data, error } = await client.auth.totp.begin({ challenge: asked });
  return error ? { status: 400, ...signIn({ error }) } : enrolment({ begun: data, asked });
}

/** The security page, with the error of a change; or the question whether it is the user, who then repeats the change. */
async function securityPage(client, error) {
  if (error?.error === "REAUTHENTICATION_REQUIRED") {
    const { data } = await client.auth.reauthenticate();
    if (data) return challenge({ asked: data.challenge });
  }
  const { data } = await client.auth.getAccount();
  if (!data) return HOME;
  const [{ data: own }, { data: keys }] = await Promise.all([client.auth.listSessions(), client.auth.passkeys.list()]);
  const lists = { sessions: own?.sessions ?? [], passkeys: keys?.passkeys ?? [] };
  return { ...(error && { status: 400 }), ...security({ error, account: data, ...lists }) };
}

/** Result of a change on the security page: its recovery codes, if there are new ones. */
const changed = (client, { data, error }) => {
  if (error) return securityPage(client, error);
  return data.recoveryCodes ? recoveryCodes({ codes: data.recoveryCodes }) : SECURITY;
};

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
    const profile = await client.profiles.me();
    return account({ user: data.user, profile: profile.data });
  },
  "/security": async ({ client }) => securityPage(client),
  "/sign-up": async () => signUp({}),
  "/verify": async ({ fields }) => verify({ email: fields.email }),
  "/forgot": async () => forgot({}),
  "/new-password": async ({ fields }) =>
    fields.service_status === "ready" && fields.token
      ? newPassword({ otp: fields.token })
      : { redirect: "/?notice=error" },
  "/oauth/callback": async ({ client, fields }) => {
    const { data, error } = await client.auth.exchangeOAuthCode(fields.service_code ?? "");
    return error ? signIn({ error }) : entered(client, data);
  },
};

/** Routes by POST. */
export const actions = {
  "/sign-in": async ({ client, fields }) => {
    const { email, password } = fields;
    const { data, error } = await client.auth.signInWithPassword({ email, password });
    return error ? { status: 400, ...signIn({ error, email }) } : entered(client, data);
  },
  "/sign-up": async ({ client, fields, origin }) => {
    const { email, password, name } = fields;
    const { data, error } = await client.auth.signUp({ email, password, name, redirectTo: `${origin}/` });
    if (error) return { status: 400, ...signUp({ error, email, name }) };
    if (!data.requireEmailVerification) return entered(client, data);
    const { data: config } = await client.auth.getPublicConfig();
    const isCode = config?.verifyEmailMethod === "code";
    return { redirect: isCode ? `/verify?email=${encodeURIComponent(email)}` : "/?notice=mailed" };
  },
  "/verify": async ({ client, fields }) => {
    const { email, otp } = fields;
    const { data, error } = await client.auth.verifyEmail({ email, otp });
    return error ? { status: 400, ...verify({ error, email }) } : entered(client, data);
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
    // With two-step sign-in the answer to the challenge is the token that resets.
    if (error?.challenge) return challenge({ asked: error.challenge });
    if (error) return { status: 400, ...newPassword({ error, otp }) };
    return { redirect: "/?notice=changed" };
  },
  "/challenge": async ({ client, fields }) => {
    const { kind, answer, other } = fields;
    const asked = { id: fields.challenge, kinds: fields.kinds.split(" "), expiresAt: fields.expiresAt };
    if (other === "email_code") await client.auth.sendChallengeCode({ challenge: asked });
    if (other) return challenge({ asked, kind: other });
    const given = kind === "password" ? { password: answer } : { code: answer.trim() };
    const { data, error } = await client.auth.answerChallenge({ challenge: asked, kind, ...given });
    if (error?.error === "INVALID_CHALLENGE") return { status: 400, ...signIn({ error }) };
    if (error) return { status: 400, ...challenge({ error, asked, kind }) };
    // The password was not stored meanwhile: it is typed again.
    if (data.token) return newPassword({ otp: data.token });
    // A step-up comes from the security page, a sign-in goes to the account.
    return data.expiresAt && !data.refreshToken ? SECURITY : HOME;
  },
  "/totp": async ({ client }) => {
    const { data, error } = await client.auth.totp.begin({ name: "Authenticator app" });
    return error ? securityPage(client, error) : enrolment({ begun: data });
  },
  "/totp/confirm": async ({ client, fields }) => {
    const { factorId, uri, secret, code } = fields;
    const asked = fields.challenge && { id: fields.challenge };
    const result = await client.auth.totp.confirm({ factorId, code: code.trim(), ...(asked && { challenge: asked }) });
    const { error } = result;
    if (error) return { status: 400, ...enrolment({ error, begun: { factorId, uri, secret }, asked }) };
    return changed(client, result);
  },
  "/passkey/rename": async ({ client, fields }) => changed(client, await client.auth.passkeys.rename(fields.id, fields.name.trim())),
  "/passkey/remove": async ({ client, fields }) => changed(client, await client.auth.passkeys.remove(fields.id)),
  "/recovery-codes": async ({ client }) => changed(client, await client.auth.replaceRecoveryCodes()),
  "/two-step/off": async ({ client }) => changed(client, await client.auth.setTwoStep(false)),
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
    return data?.user ? { status: 400, ...account({ error, user: data.user, profile: { name, bio } }) } : HOME;
  },
  "/sign-out": async ({ client }) => {
    await client.auth.signOut();
    return HOME;
  },
};
