// @latchkey/client/testing: the fake behaves like the real client with the real service, under the test's control.
import { describe, expect, inject, test, vi } from "vitest";
import type { LatchkeyClient } from "../src/index.js";
import { createFakeClient, type FakeClient } from "../src/testing.js";
import { codeIn, mailTo, must, newEmail, PASSWORD, serverClient } from "./support/people.js";

const MINUTE = 60_000;
const ADA = { email: "ada@example.org", password: PASSWORD, name: "Ada Lovelace" };

/** Fake with a signed-in user, and its events since. */
async function signedIn(): Promise<{ client: FakeClient; events: string[] }> {
  const client = createFakeClient();
  client.fake.addUser(ADA);
  must(await client.auth.signInWithPassword(ADA));
  const events: string[] = [];
  client.auth.onAuthStateChange((event, session) => events.push(`${event} ${session?.user.email ?? "nobody"}`));
  await client.auth.getCurrentUser();
  return { client, events };
}

describe.each([
  ["the real client", () => serverClient(inject("open"))],
  ["the fake", () => createFakeClient()],
] as const)("%s, without verification", (_, create: () => LatchkeyClient) => {
  test("signs up, refuses the address again, signs in, and refuses a wrong password", async () => {
    const { auth } = create();
    const email = newEmail();
    const made = must(await auth.signUp({ email, password: PASSWORD, name: "Ada" }));
    expect(made.user).toMatchObject({ email, emailVerified: false, providers: ["email"], profile: { name: "Ada", avatar_url: null } });

    expect((await auth.signUp({ email, password: PASSWORD })).error).toMatchObject({ statusCode: 409, error: "EMAIL_EXISTS" });
    expect((await auth.signInWithPassword({ email, password: "wrong" })).error).toMatchObject({
      statusCode: 401,
      error: "INVALID_CREDENTIALS",
    });
    expect((await auth.signUp({ email: newEmail(), password: "short" })).error).toMatchObject({
      statusCode: 400,
      error: "WEAK_PASSWORD",
    });
    expect((await auth.signUp({ email: "nobody", password: PASSWORD })).error?.error).toBe("VALIDATION_ERROR");
    expect(must(await auth.signInWithPassword({ email: email.toUpperCase(), password: PASSWORD })).user.id).toBe(made.user?.id);
  });

  test("changes profiles by both faces, and finds them", async () => {
    const { auth, profiles } = create();
    const name = `Ada ${newEmail()}`;
    const { user } = must(await auth.signUp({ email: newEmail(), password: PASSWORD, name }));

    const { data, etag } = await profiles.update({ bio: "First", metadata: { theme: "dark" } });
    expect(data).toMatchObject({ name, bio: "First", metadata: { theme: "dark" }, auth_id: user?.id });
    expect((await profiles.update({ bio: "x" }, { ifMatch: '"no"' })).error?.error).toBe("PRECONDITION_FAILED");
    expect((await profiles.update({ bio: "Second" }, { ifMatch: etag ?? "" })).error).toBeNull();
    expect(must(await auth.setProfile({ name, team: "a", old: null }))).toMatchObject({ bio: "Second", team: "a" });
    expect(must(await auth.getProfile(user?.id ?? ""))).toMatchObject({ id: user?.id, name, team: "a" });
    expect(must(await profiles.search(name))).toMatchObject({ total: 1, page: 1, pageSize: 20 });
    expect(must(await profiles.get(user?.id ?? ""))).not.toHaveProperty("metadata");
    expect((await profiles.get("0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")).error?.error).toBe("USER_NOT_FOUND");
    expect((await profiles.search(" ")).error?.error).toBe("MISSING_QUERY");
  });

  test("has no user after sign-out, and needs one for the profile", async () => {
    const { auth, profiles } = create();
    must(await auth.signUp({ email: newEmail(), password: PASSWORD }));

    expect((await auth.signOut()).error).toBeNull();

    expect(must(await auth.getCurrentUser())).toEqual({ user: null });
    expect(must(await auth.getCurrentSession())).toEqual({ session: null });
    expect((await profiles.me()).error).toMatchObject({ statusCode: 401, error: "AUTH_UNAUTHORIZED" });
    expect((await auth.refreshSession()).error?.error).toBe("AUTH_UNAUTHORIZED");
  });
});

describe.each([
  ["the real client", () => serverClient(inject("code")), async (_: LatchkeyClient, email: string, nth: number) => codeIn(await mailTo(inject("code"), email, nth))],
  ["the fake", () => createFakeClient({ requireEmailVerification: true }), async (client: LatchkeyClient, email: string) => (client as FakeClient).fake.codeFor(email) ?? ""],
] as const)("%s, with verification by code", (_, create: () => LatchkeyClient, codeFor) => {
  test("verifies, resets, and signs in with the new password", async () => {
    const client = create();
    const { auth } = client;
    const email = newEmail();
    expect(must(await auth.signUp({ email, password: PASSWORD }))).toMatchObject({
      accessToken: null,
      requireEmailVerification: true,
    });
    expect((await auth.signInWithPassword({ email, password: PASSWORD })).error?.error).toBe("EMAIL_NOT_VERIFIED");
    expect((await auth.verifyEmail({ email, otp: "xxxxxx" })).error).not.toBeNull();
    expect(must(await auth.verifyEmail({ email, otp: await codeFor(client, email, 1) })).user.emailVerified).toBe(true);

    must(await auth.sendResetPasswordEmail({ email }));
    const { token } = must(await auth.exchangeResetPasswordToken({ email, code: await codeFor(client, email, 2) }));
    must(await auth.resetPassword({ newPassword: "staple of the battery", otp: token }));
    expect((await auth.resetPassword({ newPassword: "staple of the battery", otp: token })).error?.error).toBe("INVALID_CODE");
    must(await auth.signInWithPassword({ email, password: "staple of the battery" }));
  });
});

describe("the fake", () => {
  test("refreshes by its clock, and every token is another", async () => {
    const { client, events } = await signedIn();
    const before = must(await client.auth.getCurrentSession()).session;

    client.fake.advance(13 * MINUTE);
    expect(must(await client.auth.getCurrentSession()).session).toBe(before);
    client.fake.advance(MINUTE);

    const after = must(await client.auth.getCurrentSession()).session;
    expect(after?.accessToken).not.toBe(before?.accessToken);
    expect(after?.expiresAt?.getTime()).toBe(client.fake.now() + 15 * MINUTE);
    expect(events).toEqual([`INITIAL_SESSION ${ADA.email}`, `TOKEN_REFRESHED ${ADA.email}`]);
  });

  test("keeps the session while offline, and continues when online", async () => {
    const { client, events } = await signedIn();

    client.fake.isOffline = true;
    client.fake.advance(60 * MINUTE);
    expect((await client.profiles.me()).error).toMatchObject({ statusCode: 0, error: "NETWORK_ERROR" });
    expect(events).toEqual([`INITIAL_SESSION ${ADA.email}`]);

    client.fake.isOffline = false;
    expect((await client.profiles.me()).data?.name).toBe(ADA.name);
    expect(events.at(-1)).toBe(`TOKEN_REFRESHED ${ADA.email}`);
  });

  test("notices at the next call or refresh that the service ended the session", async () => {
    for (const notice of [(c: FakeClient) => void c.fake.advance(14 * MINUTE), async (c: FakeClient) => c.profiles.me()]) {
      const { client, events } = await signedIn();
      client.fake.endSessions();
      expect(events).toHaveLength(1);

      await notice(client);

      expect(events.at(-1)).toBe("SIGNED_OUT nobody");
      expect(must(await client.auth.getCurrentUser())).toEqual({ user: null });
    }
  });

  test("fails as injected, as often as injected, and only there", async () => {
    const { client } = await signedIn();
    client.fake.fail("profiles.update", { statusCode: 429, error: "TOO_MANY_REQUESTS", retryAfter: 7 }, 2);
    client.fake.fail("*", { statusCode: 500, error: "INTERNAL_ERROR", requestId: "r1", message: "Broken." });

    expect((await client.profiles.update({ bio: "x" })).error).toMatchObject({ error: "TOO_MANY_REQUESTS", retryAfter: 7 });
    expect((await client.profiles.me()).error).toMatchObject({ requestId: "r1", message: "Broken." });
    expect((await client.profiles.update({ bio: "x" })).error?.statusCode).toBe(429);
    expect((await client.profiles.update({ bio: "x" })).error).toBeNull();
  });

  test("emits changes of the user, and records the calls", async () => {
    const { client, events } = await signedIn();

    await client.profiles.update({ name: "Ada King" });

    expect(events.at(-1)).toBe(`USER_UPDATED ${ADA.email}`);
    expect(must(await client.auth.getCurrentUser()).user?.profile.name).toBe("Ada King");
    expect(client.fake.calls).toContainEqual({ operation: "profiles.update", input: [{ name: "Ada King" }] });
  });

  test("has every operation of the real client", () => {
    const [fake, real] = [createFakeClient(), serverClient("http://real.example")];

    for (const room of ["auth", "profiles"] as const) {
      expect(Object.keys(fake[room]).sort()).toEqual(Object.keys(real[room]).sort());
    }
    expect(Object.keys(fake.auth.passkeys).sort()).toEqual(Object.keys(real.auth.passkeys).sort());
  });

  test("needs no network", async () => {
    const fetch = vi.spyOn(globalThis, "fetch");
    const { client } = await signedIn();

    must(await client.auth.signInWithOAuth({ provider: "google" }));
    must(await client.auth.exchangeOAuthCode("grace@example.org"));
    expect((await client.auth.signOut()).error).toBeNull();

    expect(fetch).not.toHaveBeenCalled();
    fetch.mockRestore();
  });

  test("has the types of the app's own data", async () => {
    const client = createFakeClient<{ metadata: { plan: "free" | "pro" } }>();
    client.fake.addUser({ ...ADA, metadata: { plan: "pro" } });
    // @ts-expect-error: a misspelt plan does not compile.
    client.fake.addUser({ ...ADA, email: "grace@example.org", metadata: { plan: "por" } });

    const { user } = must(await client.auth.signInWithPassword(ADA));

    const plan: "free" | "pro" = user.metadata.plan;
    expect(plan).toBe("pro");
  });
});

describe("passkeys of the fake", () => {
  test("are registered, named, listed and removed, and sign in at level 2", async () => {
    const { client } = await signedIn();
    const { auth, fake } = client;
    expect(auth.passkeys.isSupported()).toBe(true);
    const { passkey } = must(await auth.passkeys.register({ name: "Phone" }));
    expect(must(await auth.passkeys.rename(passkey.id, "Tablet")).passkey.name).toBe("Tablet");
    expect(must(await auth.passkeys.list())).toMatchObject({ passkeys: [{ name: "Tablet" }], acceptedCredentialIds: [passkey.credentialId] });
    expect(must(await auth.getAccount())).toMatchObject({ passkeyCount: 1, reauthenticateWith: ["passkey", "password"] });

    await auth.signOut();
    expect((await auth.signInWithPasskey({ email: "grace@example.org" })).error?.error).toBe("PASSKEY_CANCELLED");
    expect(must(await auth.signInWithPasskey()).user).toMatchObject({ email: ADA.email, providers: ["email", "passkey"] });
    expect(must(await auth.getAccount()).level).toBe(2);
    must(await auth.passkeys.remove(passkey.id));
    expect((await auth.signInWithPasskey()).error?.error).toBe("PASSKEY_CANCELLED");
    expect(fake.calls).toContainEqual({ operation: "passkeys.register", input: [{ name: "Phone" }] });
  });

  test("wait in an autofill until a test chooses one or the app ends it", async () => {
    const { auth, fake } = createFakeClient();
    fake.addUser({ ...ADA, passkey: true });
    const page = new AbortController();
    const ended = auth.signInWithPasskey({ autofill: true, signal: page.signal });
    await Promise.resolve();
    page.abort();
    expect((await ended).error?.error).toBe("PASSKEY_CANCELLED");

    const chosen = auth.signInWithPasskey({ autofill: true });
    await Promise.resolve();
    fake.choosePasskey();
    expect(must(await chosen).user.email).toBe(ADA.email);
  });

  test("answer the challenge of two-step sign-in, and are its last factor", async () => {
    const { auth, fake } = createFakeClient();
    fake.addUser({ ...ADA, passkey: true });
    must(await auth.signInWithPassword(ADA));
    must(await auth.setTwoStep(true));
    const [passkey] = must(await auth.passkeys.list()).passkeys;
    expect((await auth.passkeys.remove(passkey?.id ?? "")).error?.error).toBe("LAST_SECOND_FACTOR");
    await auth.signOut();

    const { data } = await auth.signInWithPassword(ADA);
    if (!data?.challenge) throw new Error("there is no challenge");
    expect(data.challenge.kinds).toEqual(["passkey", "recovery_code"]);
    const { challenge } = data;
    expect((await auth.answerChallenge({ challenge, kind: "passkey" })).error?.error).toBe("VALIDATION_ERROR");
    expect(must(await auth.answerChallengeWithPasskey({ challenge })).user.email).toBe(ADA.email);
    expect((await auth.answerChallengeWithPasskey({ challenge })).error?.error).toBe("INVALID_CHALLENGE");
  });
});

describe("two-step sign-in of the fake", () => {
  const signIn = async (client: FakeClient) => {
    const { data } = await client.auth.signInWithPassword(ADA);
    if (!data?.challenge) throw new Error("there is no challenge");
    return data.challenge;
  };

  test("asks for a code of the app or a recovery code, each good once", async () => {
    const client = createFakeClient();
    client.fake.addUser({ ...ADA, twoStep: true });
    const events: string[] = [];
    client.auth.onAuthStateChange((event) => events.push(event));
    const challenge = await signIn(client);
    const answer = (kind: "totp" | "recovery_code", code: string, to = challenge) =>
      client.auth.answerChallenge({ challenge: to, kind, code });

    expect((await answer("totp", "nothing")).error).toMatchObject({ statusCode: 401, error: "INVALID_SECOND_FACTOR" });
    expect((await answer("totp", client.fake.totp())).data?.user?.email).toBe(ADA.email);
    expect((await answer("totp", client.fake.totp())).error?.error).toBe("INVALID_CHALLENGE");
    expect(must(await client.auth.getAccount())).toMatchObject({ twoStep: true, level: 2, recoveryCodesLeft: 10 });
    expect(events).toEqual(["INITIAL_SESSION", "CHALLENGED", "SIGNED_IN"]);

    await client.auth.signOut();
    const [code = ""] = client.fake.recoveryCodesOf(ADA.email);
    const again = await signIn(client);
    expect((await answer("totp", client.fake.totp(), again)).error?.error).toBe("INVALID_SECOND_FACTOR");
    expect((await answer("recovery_code", code.toUpperCase(), again)).error).toBeNull();
    expect(client.fake.recoveryCodesOf(ADA.email)).toHaveLength(9);
  });

  test("five wrong answers, and ten minutes, end a challenge", async () => {
    const client = createFakeClient();
    client.fake.addUser({ ...ADA, twoStep: true });
    const challenge = await signIn(client);
    for (let wrong = 0; wrong < 5; wrong++) await client.auth.answerChallenge({ challenge, kind: "totp", code: "000000" });
    const right = (to: typeof challenge) => client.auth.answerChallenge({ challenge: to, kind: "totp", code: client.fake.totp() });

    expect((await right(challenge)).error?.error).toBe("INVALID_CHALLENGE");
    const second = await signIn(client);
    client.fake.advance(10 * MINUTE);
    expect((await right(second)).error?.error).toBe("INVALID_CHALLENGE");
  });

  test("is turned on by an app, asks again after ten minutes, and is turned off", async () => {
    let client: FakeClient;
    const asked: string[][] = [];
    client = createFakeClient({
      onReauthenticationRequired: async (challenge) => {
        asked.push(challenge.kinds);
        await client.auth.answerChallenge({ challenge, kind: "totp", code: client.fake.totp() });
      },
    });
    const { auth, fake } = client;
    fake.addUser(ADA);
    must(await auth.signInWithPassword(ADA));
    expect((await auth.setTwoStep(true)).error?.error).toBe("LAST_SECOND_FACTOR");

    const { factorId } = must(await auth.totp.begin({ name: "Phone" }));
    expect((await auth.totp.confirm({ factorId, code: "no" })).error?.error).toBe("INVALID_SECOND_FACTOR");
    const on = must(await auth.totp.confirm({ factorId, code: fake.totp() }));
    expect(on.recoveryCodes).toHaveLength(10);
    expect(on.recoveryCodes?.[0]).toMatch(/^\w{4}(-\w{4}){3}$/);
    expect((await auth.totp.remove(on.factor.id)).error?.error).toBe("LAST_SECOND_FACTOR");

    fake.advance(11 * MINUTE);
    expect(Date.parse(must(await auth.getAccount()).freshUntil ?? "")).toBeLessThan(fake.now());
    expect(must(await auth.replaceRecoveryCodes()).recoveryCodes).toHaveLength(10);
    expect(asked).toEqual([["totp", "recovery_code"]]);
    expect(must(await auth.setTwoStep(false))).toHaveProperty("message");
    expect((await auth.signInWithPassword(ADA)).data?.challenge).toBeUndefined();
  });

  test("guards the reset of a password", async () => {
    const { auth, fake } = createFakeClient();
    fake.addUser({ ...ADA, twoStep: true });
    await auth.sendResetPasswordEmail(ADA);
    const { token } = must(await auth.exchangeResetPasswordToken({ email: ADA.email, code: fake.codeFor(ADA.email) ?? "" }));

    const { error } = await auth.resetPassword({ newPassword: "a new password", otp: token });
    expect(error?.error).toBe("SECOND_FACTOR_REQUIRED");
    if (!error?.challenge) throw new Error("there is no challenge");
    const given = must(await auth.answerChallenge({ challenge: error.challenge, kind: "totp", code: fake.totp() }));

    expect((await auth.resetPassword({ newPassword: "a new password", otp: given.token })).error).toBeNull();
  });
});
