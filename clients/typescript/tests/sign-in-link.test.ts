// @vitest-environment happy-dom
// The sign-in link of a mail, in a simulated page. sign-in-by-mail.test.ts has the running service, tests/browser real browsers.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type AuthEvent, createClient, type LatchkeyClient, readRedirectResult } from "../src/index.js";
import { challenge, fakeService, type FakeService, refusal, session, USER } from "./support/fake-service.js";
import { must } from "./support/people.js";

const baseUrl = "http://fake.example";
const SEND = "/api/auth/email/send-otp";
const LINK = "/app?x=1&service_status=ready&service_type=sign_in&token=abc#part";
const clients: LatchkeyClient[] = [];

function open({ fetch }: Pick<FakeService, "fetch">, more: { detectRedirect?: boolean } = {}): LatchkeyClient {
  const client = createClient({ baseUrl, fetch, ...more });
  clients.push(client);
  return client;
}

const address = (path: string): void => history.replaceState(null, "", path);
/** Service that mails, and opens a session. */
const service = (): FakeService => fakeService(({ path }) => (path === SEND ? { status: 202, body: { success: true, message: "Sent." } } : session()));
const sent = ({ calls }: FakeService) => calls.find(({ path }) => path === SEND)?.body;
const entered = ({ calls }: FakeService) => calls.filter(({ path }) => path === "/api/auth/sessions").map(({ body }) => body);

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  address("/app");
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  vi.unstubAllGlobals();
});

describe("in the browser that asked", () => {
  test("the link signs in by itself, in a tab of its own, and leaves the address bar", async () => {
    const answers = service();
    const asking = open(answers);
    must(await asking.auth.signInWithOtp({ email: USER.email, redirectTo: "https://app.example/app" }));
    const heard: AuthEvent[] = [];
    asking.auth.onAuthStateChange((event) => heard.push(event));
    await asking.auth.getCurrentUser();

    sessionStorage.clear(); // the new tab has its own
    address(LINK);
    const client = open(answers);
    const { data } = await client.auth.getCurrentUser();

    expect(data?.user).toEqual(USER);
    expect(location.href.endsWith("/app?x=1#part")).toBe(true);
    const [body] = entered(answers);
    expect(body).toEqual({ method: "link", token: "abc", code_verifier: expect.stringMatching(/^[\w-]{43}$/) });
    expect(sent(answers)).toEqual({
      email: USER.email,
      redirectTo: "https://app.example/app",
      code_challenge: challenge(body?.code_verifier as string),
    });
    expect(client.auth.getRedirectResult()).toBeNull();
    expect(localStorage.getItem(`latchkey:${baseUrl}:link`)).toBeNull();
    await expect.poll(() => heard).toEqual(["INITIAL_SESSION", "SIGNED_IN"]);
  });

  test("a challenge of two-step sign-in arrives with its event", async () => {
    const asked = { id: "the-challenge", kinds: ["totp"], expiresAt: "2026-01-01T00:00:00.000Z" };
    const answers = fakeService(({ path }) => (path === SEND ? { body: { success: true } } : { body: { challenge: asked } }));
    must(await open(answers).auth.signInWithOtp({ email: USER.email }));
    address(LINK);

    const heard: unknown[] = [];
    open(answers).auth.onAuthStateChange((event, held, __, challenge) => heard.push([event, held, challenge?.id]));

    await expect.poll(() => heard).toEqual([["INITIAL_SESSION", null, undefined], ["CHALLENGED", null, "the-challenge"]]);
  });

  test("a lost response keeps the verifier for the mail that came, and a refusal keeps the one before", async () => {
    let answer: "lost" | ReturnType<typeof refusal> = "lost";
    const answers = fakeService(({ path }) => (path === SEND ? answer : session()));
    expect((await open(answers).auth.signInWithOtp({ email: USER.email })).error?.error).toBe("NETWORK_ERROR");
    const kept = localStorage.getItem(`latchkey:${baseUrl}:link`);
    answer = refusal(429, "TOO_MANY_REQUESTS");
    await open(answers).auth.signInWithOtp({ email: USER.email });

    expect(kept).toMatch(/^[\w-]{43}$/);
    expect(localStorage.getItem(`latchkey:${baseUrl}:link`)).toBe(kept);
  });

  test("without a network the result is an error, and the mail can be opened again", async () => {
    let isLost = true;
    const answers = fakeService(({ path }) => (path === SEND ? { body: { success: true } } : isLost ? "lost" : session()));
    must(await open(answers).auth.signInWithOtp({ email: USER.email }));
    address(LINK);
    const client = open(answers);
    await client.auth.getCurrentUser();
    expect(client.auth.getRedirectResult()).toMatchObject({ status: "error", type: "sign_in" });

    isLost = false;
    address(LINK);

    expect((await open(answers).auth.getCurrentUser()).data?.user).toEqual(USER);
  });
});

describe("elsewhere", () => {
  const NEEDS_CODE = { status: "ready", type: "sign_in", needsCode: true };

  test("the code is asked for, and nothing is sent", async () => {
    address(LINK);
    const answers = service();
    const client = open(answers);

    expect((await client.auth.getCurrentUser()).data?.user).toBeNull();
    expect(client.auth.getRedirectResult()).toEqual(NEEDS_CODE);
    expect(entered(answers)).toEqual([]);
    expect(location.href).not.toContain("abc");
  });

  test("the code is asked for also where a router puts the parameters back", async () => {
    address(LINK);
    const client = open(service());
    await client.auth.getCurrentUser();

    address(LINK);

    expect(client.auth.getRedirectResult()).toEqual(NEEDS_CODE);
    expect(location.href).not.toContain("abc");
  });

  test("the code is asked for also where another mail was asked for, whose link still signs in", async () => {
    const answers = fakeService(({ path, body }) => {
      if (path === SEND) return { body: { success: true } };
      return body.token === "mine" ? session() : refusal(400, "INVALID_CODE");
    });
    must(await open(answers).auth.signInWithOtp({ email: USER.email }));
    address(LINK);
    const client = open(answers);
    expect((await client.auth.getCurrentUser()).data?.user).toBeNull();
    expect(client.auth.getRedirectResult()).toEqual(NEEDS_CODE);

    address(LINK.replace("abc", "mine"));

    expect((await open(answers).auth.getCurrentUser()).data?.user).toEqual(USER);
  });
});

test("a client that shall not look leaves the token to the app, whose call signs in", async () => {
  const answers = service();
  const { auth } = open(answers, { detectRedirect: false });
  must(await auth.signInWithOtp({ email: USER.email }));
  address(LINK);
  const result = readRedirectResult(location.href);

  expect(must(await auth.verifyOtp({ token: result?.token ?? "", name: "Ada" })).user).toEqual(USER);
  expect(entered(answers)[0]).toMatchObject({ method: "link", token: "abc", name: "Ada" });
});

test("a browser that keeps no data asks for a mail without a link", async () => {
  vi.stubGlobal("localStorage", undefined);
  const answers = service();

  must(await open(answers).auth.signInWithOtp({ email: USER.email }));

  expect(sent(answers)).toEqual({ email: USER.email });
});

test("a typed code ends the link too", async () => {
  const answers = service();
  const { auth } = open(answers);
  must(await auth.signInWithOtp({ email: USER.email }));

  must(await auth.verifyOtp({ email: USER.email, otp: "123456" }));

  expect(localStorage.getItem(`latchkey:${baseUrl}:link`)).toBeNull();
});
