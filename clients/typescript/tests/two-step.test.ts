// @vitest-environment happy-dom
// Challenges, step-up and factors, with responses of the service that are scripted.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Challenge, createClient, type LatchkeyClient } from "../src/index.js";
import { fakeService, type FakeService, refusal, session, USER } from "./support/fake-service.js";
import { fakeLocks } from "./support/locks.js";
import { baseUrl, closeTabs, CREDENTIALS, CSRF_KEY, eventsOf, openTab } from "./support/tab.js";

const CHALLENGE: Challenge<any> = {
  id: "c".repeat(43),
  kinds: ["totp", "recovery_code"],
  expiresAt: "2026-03-01T12:10:00.000Z",
};
const challenged = { body: { challenge: CHALLENGE } };
const ANSWER = "/api/auth/challenges/answer";
const now = (): number => Math.floor(Date.now() / 1000);

/** Access token of a session, with the time of its authentication. */
function tokenOf(authTime: number, more: object = {}): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { sub: USER.id, sid: "s1", iat: now(), exp: now() + 900, auth_time: authTime, ...more };
  return `${part({ alg: "none" })}.${part(claims)}.`;
}

const old = () => session({ accessToken: tokenOf(now() - 3600) });
const fresh = (more: object = {}) => ({ body: { user: USER, accessToken: tokenOf(now()), expiresAt: "2026-03-01T12:15:00.000Z", ...more } });

beforeEach(() => {
  localStorage.clear();
  vi.stubGlobal("navigator", { locks: fakeLocks() });
});
afterEach(() => {
  closeTabs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Everything that the page stored. */
const stored = (): string => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]);

describe("answerChallenge", () => {
  const service = (): FakeService =>
    fakeService(({ path, body }) => {
      if (path !== ANSWER) return challenged;
      return body.code === "123456" ? session() : refusal(401, "INVALID_SECOND_FACTOR");
    });

  test("opens the session of a sign-in that was challenged", async () => {
    const fake = service();
    const { auth } = openTab(fake);
    const heard: unknown[] = [];
    auth.onAuthStateChange((event, held, _, challenge) => heard.push([event, held?.user.id, challenge?.id]));

    const { data, error } = await auth.signInWithPassword(CREDENTIALS);
    expect(error).toBeNull();
    expect(data).toEqual({ challenge: CHALLENGE });
    if (!data?.challenge) throw new Error("the types do not tell them apart");
    expect((await auth.getCurrentSession()).data).toEqual({ session: null });
    expect(stored()).not.toContain(CHALLENGE.id);

    const wrong = await auth.answerChallenge({ challenge: data.challenge, kind: "totp", code: "000000" });
    expect(wrong.error).toMatchObject({ statusCode: 401, error: "INVALID_SECOND_FACTOR" });
    const right = await auth.answerChallenge({ challenge: data.challenge, kind: "totp", code: "123456" });

    expect(right.data?.user?.id).toBe(USER.id);
    expect(fake.calls.at(-1)).toMatchObject({ path: ANSWER, body: { challengeId: CHALLENGE.id, kind: "totp", code: "123456" } });
    expect(fake.calls.filter(({ path }) => path === "/api/auth/refresh")).toEqual([]);
    expect(heard).toEqual([
      ["INITIAL_SESSION", undefined, undefined],
      ["CHALLENGED", undefined, CHALLENGE.id],
      ["SIGNED_IN", USER.id, undefined],
    ]);
    expect(localStorage.getItem(CSRF_KEY)).toBe("csrf");
  });

  test("a listener that comes later hears of the open challenge, and of none that was answered", async () => {
    const { auth } = openTab(service());
    const { data } = await auth.signInWithPassword(CREDENTIALS);
    const heard = eventsOf({ auth } as LatchkeyClient);
    await expect.poll(() => heard).toEqual(["INITIAL_SESSION -", "CHALLENGED -"]);

    await auth.answerChallenge({ challenge: data?.challenge as Challenge, kind: "totp", code: "123456" });
    const later = eventsOf({ auth } as LatchkeyClient);

    await expect.poll(() => later).toEqual([`INITIAL_SESSION ${USER.id}`]);
  });

  test("leaves the session that there was, and its cookie, to another tab", async () => {
    const fake = fakeService(({ path, body }) => (path === ANSWER || body.email === "u1" ? session() : challenged));
    const tab = openTab(fake);
    await tab.auth.signInWithPassword({ ...CREDENTIALS, email: "u1" });
    const elsewhere = eventsOf(openTab(fake));
    await expect.poll(() => elsewhere).toHaveLength(1);

    await tab.auth.signInWithPassword(CREDENTIALS);

    expect((await tab.auth.getCurrentSession()).data?.session?.user.id).toBe(USER.id);
    expect(elsewhere).toEqual([`INITIAL_SESSION ${USER.id}`]);
  });

  test("of a reset is the token that resets; the challenge is in the error and not in its text", async () => {
    const { auth } = openTab(
      fakeService(({ path }) =>
        path === ANSWER
          ? { body: { token: "second", expiresAt: CHALLENGE.expiresAt } }
          : { status: 403, body: { error: "SECOND_FACTOR_REQUIRED", message: "A second factor.", statusCode: 403, challenge: CHALLENGE } },
      ),
    );

    const { error } = await auth.resetPassword({ newPassword: "correct horse battery", otp: "first" });
    expect(error).toMatchObject({ statusCode: 403, error: "SECOND_FACTOR_REQUIRED" });
    expect(JSON.stringify(error)).not.toContain(CHALLENGE.id);
    if (!error?.challenge) throw new Error("no challenge");
    const { data } = await auth.answerChallenge({ challenge: error.challenge, kind: "recovery_code", code: "abcd" });

    const token: string | undefined = data?.token;
    expect(token).toBe("second");
  });

  test("mails a code on request", async () => {
    const fake = fakeService(() => ({ status: 202, body: { success: true, message: "Sent." } }));
    const { data } = await openTab(fake).auth.sendChallengeCode({ challenge: CHALLENGE });

    expect(data?.success).toBe(true);
    expect(fake.calls.at(-1)).toMatchObject({ path: "/api/auth/challenges/send-code", body: { challengeId: CHALLENGE.id } });
  });
});

describe("reauthenticate", () => {
  /** Service whose calls below `factors` need a token that is fresh. */
  const service = (): FakeService =>
    fakeService(({ path, headers }) => {
      if (path === "/api/auth/sessions") return old();
      if (path === "/api/auth/reauthenticate") return challenged;
      if (path === ANSWER) return fresh();
      if (path === "/api/auth/refresh") return old();
      const token = headers.get("authorization")?.split(".")[1] ?? "";
      const { auth_time } = JSON.parse(Buffer.from(token, "base64url").toString()) as { auth_time: number };
      return now() - auth_time < 600 ? { body: { recoveryCodes: ["a"] } } : refusal(403, "REAUTHENTICATION_REQUIRED");
    });

  test("without the option, a call that needs it returns its error", async () => {
    const fake = service();
    const { auth } = openTab(fake);
    await auth.signInWithPassword(CREDENTIALS);

    expect((await auth.replaceRecoveryCodes()).error).toMatchObject({ statusCode: 403, error: "REAUTHENTICATION_REQUIRED" });
    expect(fake.calls.filter(({ path }) => path.endsWith("recovery-codes"))).toHaveLength(1);
  });

  test("and its answer freshen the same session, in all tabs", async () => {
    const fake = service();
    const tab = openTab(fake);
    await tab.auth.signInWithPassword(CREDENTIALS);
    const elsewhere = openTab(fake);
    const heard = eventsOf(elsewhere);
    await expect.poll(() => heard).toHaveLength(1);

    const { data } = await tab.auth.reauthenticate();
    expect(data?.challenge).toEqual(CHALLENGE);
    const answer = await tab.auth.answerChallenge({ challenge: data?.challenge as Challenge, kind: "totp", code: "1" });

    expect(answer.error).toBeNull();
    expect(fake.calls.at(-1)?.headers.get("authorization")).toContain("Bearer ");
    expect((await tab.auth.replaceRecoveryCodes()).data?.recoveryCodes).toEqual(["a"]);
    await expect.poll(() => heard).toEqual([`INITIAL_SESSION ${USER.id}`, `REAUTHENTICATED ${USER.id}`]);
    expect((await elsewhere.auth.replaceRecoveryCodes()).error).toBeNull();
    // The session can still be refreshed.
    expect((await tab.auth.refreshSession()).error).toBeNull();
    expect(fake.calls.at(-1)?.headers.get("x-csrf-token")).toBe("csrf");
  });

  test("the fresh token is not replaced by that of another tab", async () => {
    const fake = service();
    const tab = openTab(fake);
    await tab.auth.signInWithPassword(CREDENTIALS);
    const { data } = await tab.auth.reauthenticate();
    await tab.auth.answerChallenge({ challenge: data?.challenge as Challenge, kind: "totp", code: "1" });

    const other = new BroadcastChannel(`latchkey:${baseUrl}`);
    const late = { accessToken: tokenOf(now() - 3600), user: USER, expiresAt: 0, staleAt: Date.now() + 9e6, deadAt: Date.now() + 9e6 };
    other.postMessage({ event: "TOKEN_REFRESHED", session: late });
    await new Promise((resolve) => setTimeout(resolve, 50));
    other.close();

    expect((await tab.auth.replaceRecoveryCodes()).error).toBeNull();
  });

  test("the option is asked once, and the calls are repeated once", async () => {
    const fake = service();
    const asked: Challenge[] = [];
    const client = createClient({
      baseUrl,
      fetch: fake.fetch,
      onReauthenticationRequired: async (challenge) => {
        asked.push(challenge);
        await client.auth.answerChallenge({ challenge, kind: "totp", code: "1" });
      },
    });
    await client.auth.signInWithPassword(CREDENTIALS);

    const results = await Promise.all([client.auth.replaceRecoveryCodes(), client.auth.setTwoStep(false)]);

    expect(results.map(({ error }) => error)).toEqual([null, null]);
    expect(asked).toEqual([CHALLENGE]);
    expect(fake.calls.filter(({ path }) => path.endsWith("recovery-codes"))).toHaveLength(2);
    client.close();
  });

  test.each([
    ["does not answer", () => Promise.resolve()],
    ["fails", () => Promise.reject(new Error("closed"))],
  ])("an option that %s leaves the error", async (_, onReauthenticationRequired) => {
    const fake = service();
    const client = createClient({ baseUrl, fetch: fake.fetch, onReauthenticationRequired });
    await client.auth.signInWithPassword(CREDENTIALS);

    expect((await client.auth.replaceRecoveryCodes()).error?.error).toBe("REAUTHENTICATION_REQUIRED");
    expect(fake.calls.filter(({ path }) => path.endsWith("recovery-codes"))).toHaveLength(1);
    client.close();
  });

  test("a session that nothing can reauthenticate gets the error, and the option is not asked", async () => {
    const fake = fakeService(({ path }) => (path === "/api/auth/sessions" ? old() : refusal(403, "REAUTHENTICATION_REQUIRED")));
    const onReauthenticationRequired = vi.fn(() => Promise.resolve());
    const client = createClient({ baseUrl, fetch: fake.fetch, onReauthenticationRequired });
    await client.auth.signInWithPassword(CREDENTIALS);

    expect((await client.auth.totp.begin()).error?.error).toBe("REAUTHENTICATION_REQUIRED");
    expect(onReauthenticationRequired).not.toHaveBeenCalled();
    client.close();
  });
});

describe("factors", () => {
  const FACTOR = { id: "f1", name: "Phone", createdAt: "2026-03-01T12:00:00.000Z", lastUsedAt: null };

  test("are enrolled, renamed and removed by their calls", async () => {
    const recoveryCodes = ["aaaa-bbbb-cccc-dddd"];
    const fake = fakeService(({ method, path }) => {
      if (path === "/api/auth/sessions") return session();
      if (path.endsWith("/confirm")) return session({ factor: FACTOR, recoveryCodes, csrfToken: "second" });
      if (method === "PATCH") return { body: { factor: FACTOR } };
      if (method === "DELETE") return { body: { message: "Removed." } };
      return { body: { factorId: "f1", secret: "ABC", uri: "otpauth://totp/x", expiresAt: FACTOR.createdAt } };
    });
    const { auth } = openTab(fake);
    await auth.signInWithPassword(CREDENTIALS);
    const heard = eventsOf({ auth } as LatchkeyClient);

    const begun = await auth.totp.begin({ name: "Phone" });
    const { data } = await auth.totp.confirm({ factorId: begun.data?.factorId ?? "", code: "123456" });
    expect(data?.recoveryCodes).toEqual(recoveryCodes);
    expect((await auth.totp.rename("f/1", "Tablet")).data?.factor).toEqual(FACTOR);
    expect((await auth.totp.remove("f1")).data).toEqual({ message: "Removed." });

    expect(fake.calls.slice(1).map(({ method, path, body }) => [method, path, body])).toEqual([
      ["POST", "/api/auth/factors/totp", { name: "Phone" }],
      ["POST", "/api/auth/factors/totp/confirm", { factorId: "f1", code: "123456" }],
      ["PATCH", "/api/auth/factors/totp/f%2F1", { name: "Tablet" }],
      ["DELETE", "/api/auth/factors/totp/f1", {}],
    ]);
    // The calling session ended: there is a new one.
    expect(heard).toContain(`SIGNED_IN ${USER.id}`);
    expect(localStorage.getItem(CSRF_KEY)).toBe("second");
    expect(stored()).not.toContain(recoveryCodes[0]);
  });

  test("that a sign-in requires are enrolled with its challenge", async () => {
    const fake = fakeService(({ path }) => {
      if (path === "/api/auth/sessions") return { body: { challenge: { ...CHALLENGE, kinds: ["enroll"] } } };
      if (path.endsWith("/confirm")) return session({ factor: FACTOR, recoveryCodes: [] });
      return { body: { factorId: "f1", secret: "ABC", uri: "otpauth://totp/x", expiresAt: FACTOR.createdAt } };
    });
    const { auth } = openTab(fake);
    const { data } = await auth.signInWithPassword(CREDENTIALS);
    const challenge = data?.challenge as Challenge;

    await auth.totp.begin({ challenge });
    await auth.totp.confirm({ factorId: "f1", code: "123456", challenge });

    expect(fake.calls.slice(1).map(({ body }) => body)).toEqual([
      { challengeId: CHALLENGE.id },
      { challengeId: CHALLENGE.id, factorId: "f1", code: "123456" },
    ]);
    expect((await auth.getCurrentSession()).data?.session?.user.id).toBe(USER.id);
  });

  test("of an account, and its level, are shown by getAccount", async () => {
    const account = { user: { ...USER, emailVerified: false }, twoStep: false, totp: [], level: 1 };
    const { auth } = openTab(fakeService(({ path }) => (path === "/api/auth/account" ? { body: account } : session())));
    await auth.signInWithPassword(CREDENTIALS);

    expect((await auth.getAccount()).data).toMatchObject({ twoStep: false, level: 1 });
    expect((await auth.getCurrentSession()).data?.session?.user.emailVerified).toBe(false);
  });
});
