// Two-step sign-in against the running service.
import { describe, expect, inject, test } from "vitest";
import { type Challenge, createClient, type ErrorCode, type LatchkeyClient, verifyAccessToken } from "../src/index.js";
import { newBrowser } from "./support/browser.js";
import { codeIn, mailTo, must, newEmail, PASSWORD, serverClient } from "./support/people.js";
import { totpOf } from "./support/totp.js";

/** Client of a new user with a verified address. */
async function verified(client = serverClient(inject("code"))): Promise<{ client: LatchkeyClient; email: string }> {
  const email = newEmail();
  must(await client.auth.signUp({ email, password: PASSWORD }));
  must(await client.auth.verifyEmail({ email, otp: codeIn(await mailTo(inject("code"), email)) }));
  return { client, email };
}

/** The same with two-step sign-in; the app's next code is one step later. */
async function enrolled(client?: LatchkeyClient) {
  const user = await verified(client);
  const { factorId, secret, uri } = must(await user.client.auth.totp.begin({ name: "Phone" }));
  const used = await totpOf(secret);
  const { recoveryCodes = [], factor } = must(await user.client.auth.totp.confirm({ factorId, code: used }));
  return { ...user, secret, used, uri, factor, recoveryCodes };
}

async function challengeOf({ auth }: LatchkeyClient, email: string): Promise<Challenge<any>> {
  const { data, error } = await auth.signInWithPassword({ email, password: PASSWORD });
  if (!data?.challenge) throw error ?? new Error("there is no challenge");
  return data.challenge;
}

const refused = (error: ErrorCode) => expect.objectContaining({ error: expect.objectContaining({ error }) });

describe.each([
  ["in server mode", () => serverClient(inject("code"))],
  ["with the cookie", () => createClient({ baseUrl: inject("code"), fetch: newBrowser().fetch })],
] as const)("a user %s", (_, create) => {
  test("enrols an app, signs in with it, and with a recovery code", async () => {
    const { client, email, secret, used, uri, factor, recoveryCodes } = await enrolled(create());
    const { auth } = client;
    expect(uri).toMatch(/^otpauth:\/\/totp\//);
    expect(factor).toMatchObject({ name: "Phone" });
    expect(recoveryCodes).toHaveLength(10);
    // The session is a new one, of level 2.
    expect(must(await auth.getAccount())).toMatchObject({ twoStep: true, level: 2, recoveryCodesLeft: 10 });

    must(await auth.totp.rename(factor.id, "Tablet"));
    await auth.signOut();
    const challenge = await challengeOf(client, email);
    expect(challenge.kinds).toEqual(["totp", "recovery_code"]);
    expect((await auth.getCurrentSession()).data).toEqual({ session: null });
    expect(await auth.answerChallenge({ challenge, kind: "totp", code: used })).toEqual(refused("INVALID_SECOND_FACTOR"));
    const answer = must(await auth.answerChallenge({ challenge, kind: "totp", code: await totpOf(secret, 1) }));
    expect(answer.user.email).toBe(email);
    expect(must(await auth.getAccount()).totp).toEqual([expect.objectContaining({ id: factor.id, name: "Tablet" })]);
    expect(await auth.answerChallenge({ challenge, kind: "totp", code: await totpOf(secret, 1) })).toEqual(refused("INVALID_CHALLENGE"));

    await auth.signOut();
    const next = await challengeOf(client, email);
    const code = recoveryCodes[3]?.toUpperCase().replaceAll("-", " ") ?? "";
    must(await auth.answerChallenge({ challenge: next, kind: "recovery_code", code }));
    expect(must(await auth.getAccount()).recoveryCodesLeft).toBe(9);
    expect((await auth.refreshSession()).error).toBeNull();
  });

  test("makes new recovery codes and turns two-step sign-in off", async () => {
    const { client, email, recoveryCodes, factor } = await enrolled(create());
    const { auth } = client;
    expect(await auth.totp.remove(factor.id)).toEqual(refused("LAST_SECOND_FACTOR"));

    const fresh = must(await auth.replaceRecoveryCodes()).recoveryCodes;
    expect(fresh).toHaveLength(10);
    expect(fresh).not.toContain(recoveryCodes[0]);
    expect(must(await auth.setTwoStep(false)).recoveryCodes).toBeUndefined();

    expect(must(await auth.getAccount())).toMatchObject({ twoStep: false, totp: [], recoveryCodesLeft: 0 });
    must(await auth.signInWithPassword({ email, password: PASSWORD }));
    expect(await auth.setTwoStep(true)).toEqual(refused("LAST_SECOND_FACTOR"));
  });
});

test("a step-up makes the same session fresh, and a refresh forgets it", async () => {
  const { client } = await enrolled(createClient({ baseUrl: inject("code"), fetch: newBrowser().fetch }));
  const { auth } = client;
  const events: string[] = [];
  auth.onAuthStateChange((event) => events.push(event));
  const before = must(await auth.getAccount());

  const { challenge } = must(await auth.reauthenticate());
  expect(challenge.kinds).toEqual(["totp", "recovery_code"]);
  const codes = must(await auth.replaceRecoveryCodes()).recoveryCodes;
  // The change of the recovery codes made the challenge void.
  expect(await auth.answerChallenge({ challenge, kind: "recovery_code", code: codes[0] ?? "" })).toEqual(refused("INVALID_CHALLENGE"));
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const again = must(await auth.reauthenticate()).challenge;
  must(await auth.answerChallenge({ challenge: again, kind: "recovery_code", code: codes[0] ?? "" }));

  const after = must(await auth.getAccount());
  expect(Date.parse(after.authTime)).toBeGreaterThan(Date.parse(before.authTime));
  expect(events).toContain("REAUTHENTICATED");
  must(await auth.refreshSession());
  expect(must(await auth.getAccount()).authTime).toBe(before.authTime);
});

test("without two-step sign-in the password makes a session fresh, and a backend sees level and age", async () => {
  const { client } = await verified();
  const { challenge } = must(await client.auth.reauthenticate());
  expect(challenge.kinds).toEqual(["password"]);
  expect(await client.auth.answerChallenge({ challenge, kind: "password", password: "wrong" })).toEqual(refused("INVALID_CREDENTIALS"));
  const { accessToken } = must(await client.auth.answerChallenge({ challenge, kind: "password", password: PASSWORD }));

  const baseUrl = inject("code");
  expect((await verifyAccessToken(accessToken, { baseUrl, maxAge: 60 })).data?.claims.aal).toBe(1);
  expect(await verifyAccessToken(accessToken, { baseUrl, minLevel: 2 })).toEqual(refused("LEVEL_TOO_LOW"));
  const { client: second } = await enrolled();
  const token = must(await second.auth.getCurrentSession()).session?.accessToken ?? "";
  expect((await verifyAccessToken(token, { baseUrl, minLevel: 2 })).data?.claims.aal).toBe(2);
});

test("a password reset needs the second factor, and its answer is the token that resets", async () => {
  const { client, email, recoveryCodes } = await enrolled();
  const { auth } = client;
  must(await auth.sendResetPasswordEmail({ email }));
  const { token } = must(await auth.exchangeResetPasswordToken({ email, code: codeIn(await mailTo(inject("code"), email, 3)) }));
  const newPassword = "another horse battery";

  const { error } = await auth.resetPassword({ newPassword, otp: token });
  expect(error).toMatchObject({ statusCode: 403, error: "SECOND_FACTOR_REQUIRED" });
  if (!error?.challenge) throw new Error("there is no challenge");
  const code = recoveryCodes[0] ?? "";
  const given = must(await auth.answerChallenge({ challenge: error.challenge, kind: "recovery_code", code }));
  must(await auth.resetPassword({ newPassword, otp: given.token }));

  expect((await auth.signInWithPassword({ email, password: newPassword })).data?.challenge).toBeDefined();
});
