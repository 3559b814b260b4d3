// handleAuth of @latchkey/client/ssr: a proxy route from pages to the service.
import { beforeEach, describe, expect, inject, test, vi } from "vitest";
import { createClient } from "../src/index.js";
import { type AuthHandlerOptions, createServerClient, handleAuth, headerCookies } from "../src/ssr.js";
import { plugIn } from "./support/authenticator.js";
import { accessToken, fakeService, refusal, session } from "./support/fake-service.js";
import { codeIn, mailTo, must, newEmail, PASSWORD } from "./support/people.js";

const APP = "https://app.example";
const ACCESS = "__Host-latchkey-access";
const REFRESH = "__Host-latchkey-refresh";

/** Simulated browser on a page of the app: sends its requests to the handler, with a cookie jar. */
function newPage(options: AuthHandlerOptions) {
  const jar = new Map<string, string>();
  const handler = handleAuth(options);
  const answers: Response[] = [];
  const cookieHeader = (): string => [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
  const call = async (method: string, path: string, headers: Record<string, string> = {}, body?: string) => {
    const given = new Headers({ cookie: cookieHeader(), host: "app.example", origin: APP, "sec-fetch-site": "same-origin" });
    for (const [name, value] of Object.entries(headers)) {
      if (value) given.set(name, value);
      else given.delete(name);
    }
    const request = new Request(`${APP}${path}`, { method, headers: given, ...(body && { body }) });
    // `Request` drops headers that only browsers may set.
    Object.defineProperty(request, "headers", { value: given });
    const answer = await handler(request);
    answers.push(answer.clone());
    for (const cookie of answer.headers.getSetCookie()) {
      const [name = "", value = ""] = (cookie.split(";")[0] ?? "").split("=");
      if (/Max-Age=0(;|$)/.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  };
  const fetcher = ((path: string, init: RequestInit) =>
    call(init.method ?? "GET", path, init.headers as Record<string, string>, init.body as string)) as typeof fetch;
  const client = () => createClient({ baseUrl: "/auth", fetch: fetcher });
  const onServer = () =>
    createServerClient({ baseUrl: options.baseUrl, cookies: headerCookies(cookieHeader(), () => undefined) });
  return { jar, call, client, onServer, answers };
}

describe("against the running service", () => {
  test("a sign-up in the page is a session on the server, without its refresh token in the page", async () => {
    const page = newPage({ baseUrl: inject("open") });
    const email = newEmail();

    const signedUp = must(await page.client().auth.signUp({ email, password: PASSWORD, name: "Ada" }));

    expect(signedUp.csrfToken).toBeTruthy();
    expect(signedUp).not.toHaveProperty("refreshToken");
    for (const cookie of page.answers[0]?.headers.getSetCookie() ?? []) {
      expect(cookie).toMatch(/^__Host-latchkey-(access|refresh)=[\w.-]+; Path=\/; Max-Age=7776000; SameSite=lax; HttpOnly; Secure$/);
    }
    expect([...page.jar.keys()].sort()).toEqual([ACCESS, REFRESH]);
    expect(must(await page.onServer().auth.getCurrentUser()).user?.email).toBe(email);
  });

  test("a user signs in by mail, manages the account, and deletes it, which ends the session for both", async () => {
    const page = newPage({ baseUrl: inject("code") });
    const { auth } = page.client();
    const email = newEmail();
    const codeFor = async (address: string, nth = 1) => codeIn(await mailTo(inject("code"), address, nth));
    must(await auth.signInWithOtp({ email }));
    must(await auth.verifyOtp({ email, otp: await codeFor(email) }));

    must(await auth.updateAccount({ locale: "de" }));
    must(await auth.setPassword({ newPassword: PASSWORD }));
    const { sessions } = must(await auth.listSessions());
    expect(must(await auth.renameSession(sessions[0]?.id ?? "", "Laptop")).session.name).toBe("Laptop");
    expect(must(await auth.listEvents({ limit: 1 })).events).toHaveLength(1);
    expect(must(await auth.exportAccount()).account.locale).toBe("de");
    must(await auth.changeEmail({ newEmail: newEmail() }));
    must(await auth.cancelEmailChange());
    const address = newEmail();
    const { changeId } = must(await auth.changeEmail({ newEmail: address }));
    const codes = { newCode: await codeFor(address), currentCode: await codeFor(email, 3) };
    must(await auth.confirmEmailChange({ changeId, ...codes }));
    expect(must(await page.onServer().auth.getCurrentUser()).user?.email).toBe(address);
    expect((await auth.refreshSession()).error).toBeNull();

    must(await auth.deleteAccount());

    expect(page.jar.size).toBe(0);
    expect(must(await auth.getCurrentUser()).user).toBeNull();
  });

  test("profiles, sessions and passwords are forwarded, and a sign-out ends the session for both", async () => {
    const page = newPage({ baseUrl: inject("open") });
    const { auth, profiles } = page.client();
    const email = newEmail();
    must(await auth.signUp({ email, password: PASSWORD, name: "Ada" }));
    const before = page.jar.get(REFRESH);

    const updated = await profiles.update({ bio: email });
    expect(updated.etag).toBeTruthy();
    expect((await profiles.update({ bio: "x" }, { ifMatch: '"old"' })).error?.error).toBe("PRECONDITION_FAILED");
    expect(must(await profiles.search(email))).toMatchObject({ total: 1, pageSize: 20 });
    expect(must(await auth.listSessions()).sessions).toHaveLength(1);
    must(await auth.changePassword({ currentPassword: PASSWORD, newPassword: `${PASSWORD}!` }));
    must(await auth.refreshSession());
    expect(page.jar.get(REFRESH)).not.toBe(before);

    expect((await auth.signOut()).error).toBeNull();
    expect(page.jar.size).toBe(0);
    expect((await auth.refreshSession()).error?.error).toBe("AUTH_UNAUTHORIZED");
    must(await auth.signInWithPassword({ email, password: `${PASSWORD}!` }));
  });

  test("passkeys are forwarded, and one opens a session in the app's cookies", async () => {
    plugIn();
    const page = newPage({ baseUrl: inject("open") });
    const { auth } = page.client();
    must(await auth.signUp({ email: newEmail(), password: PASSWORD }));
    const { passkey } = must(await auth.passkeys.register());
    must(await auth.passkeys.rename(passkey.id, "Phone"));
    await auth.signOut();

    expect(must(await auth.signInWithPasskey())).not.toHaveProperty("refreshToken");
    expect(page.jar.has(REFRESH)).toBe(true);
    expect(must(await auth.passkeys.list()).passkeys[0]?.name).toBe("Phone");
    const { challenge } = must(await auth.reauthenticate());
    must(await auth.answerChallengeWithPasskey({ challenge }));
    must(await auth.passkeys.remove(passkey.id));
    vi.unstubAllGlobals();
  });

  test("an admin key selects nothing, and admin routes are not there", async () => {
    const page = newPage({ baseUrl: inject("open") });
    const key = "an-admin-key-for-tests-and-nothing-else";
    const body = JSON.stringify({ email: newEmail(), password: PASSWORD, autoConfirm: true });
    const headers = { authorization: `Bearer ${key}`, "x-api-key": key, "content-type": "application/json" };

    const made = await (await page.call("POST", "/auth/api/auth/users", headers, body)).json();
    expect(made.accessToken).toBeTruthy();
    for (const [method, path] of [["GET", "users"], ["DELETE", "users"], ["GET", "audit"], ["PUT", "config"]] as const) {
      expect((await page.call(method, `/auth/api/auth/${path}`, headers)).status).toBe(404);
    }
  });
});

describe("of a fake service", () => {
  let answers: (path: string, body: Record<string, unknown>) => ReturnType<typeof session>;
  let service: ReturnType<typeof fakeService>;
  let page: ReturnType<typeof newPage>;
  beforeEach(() => {
    answers = () => session({ csrfToken: undefined, refreshToken: "first" });
    service = fakeService(({ path, body }) => answers(path, body));
    page = newPage({ baseUrl: "http://fake.example", fetch: service.fetch, headers: () => ({ "x-forwarded-for": "192.0.2.7" }) });
  });
  const signIn = () => page.client().auth.signInWithPassword({ email: "ada@example.org", password: PASSWORD });
  const tokenOf = async (): Promise<string> => (await (await page.call("GET", "/auth/api/auth/csrf")).json()).csrfToken;

  test.each([
    ["another site", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
    ["another site, by an old browser", { origin: "https://evil.example", "sec-fetch-site": "" }],
    ["another app of the site", { origin: "https://other.app.example", "sec-fetch-site": "same-site" }],
    ["nowhere", { origin: "", "sec-fetch-site": "" }],
    ["a sandbox", { origin: "null", "sec-fetch-site": "" }],
    ["another port", { origin: `${APP}:8443`, "sec-fetch-site": "" }],
  ])("a write from %s is refused", async (_, headers) => {
    const answer = await page.call("POST", "/auth/api/auth/sessions", headers, "{}");

    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ error: "FORBIDDEN", statusCode: 403, nextActions: expect.any(String) });
    expect(service.calls).toHaveLength(0);
  });

  test("a read from another site is refused, and no response allows other origins", async () => {
    expect((await page.call("GET", "/auth/api/auth/csrf", { "sec-fetch-site": "cross-site" })).status).toBe(403);

    const answer = await page.call("GET", "/auth/api/auth/public-config");
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("origins that the app names are the only ones; a proxy may name the host", async () => {
    const proxied = { host: "10.0.0.1:3000", "x-forwarded-host": "app.example" };
    expect((await page.call("POST", "/auth/api/auth/sessions", proxied, "{}")).status).toBe(200);

    const strict = newPage({ baseUrl: "http://fake.example", fetch: service.fetch, origins: ["https://www.app.example"] });
    expect((await strict.call("POST", "/auth/api/auth/sessions", proxied, "{}")).status).toBe(403);
    const named = { origin: "https://www.app.example" };
    expect((await strict.call("POST", "/auth/api/auth/sessions", named, "{}")).status).toBe(200);
  });

  test.each([
    ["GET", "/auth/api/auth/users"],
    ["GET", "/auth/api/auth/oauth/configs/x"],
    ["POST", "/auth/api/auth/oauth/custom/configs"],
    ["PUT", "/auth/api/auth/sessions"],
    ["GET", "/auth/health/ready"],
    ["GET", "/auth/api/profiles/..%2fadmin"],
    ["GET", "/auth/api/auth/profiles/a/b"],
    ["GET", "/authapi/auth/public-config"],
    ["GET", "/api/auth/public-config"],
  ])("%s %s is not there", async (method, path) => {
    const answer = await page.call(method, path);

    expect(answer.status).toBe(404);
    expect((await answer.json()).error).toBe("NOT_FOUND");
    expect(service.calls).toHaveLength(0);
  });

  test("a body that is too large is refused without a request to the service", async () => {
    const answer = await page.call("POST", "/auth/api/auth/sessions", {}, "x".repeat(200_000));

    expect(answer.status).toBe(413);
    expect(service.calls).toHaveLength(0);
  });

  test("the service gets the client type of a server, the visitor's address, and no cookie", async () => {
    await signIn();

    expect(service.calls[0]?.query.get("client_type")).toBe("server");
    expect(service.calls[0]?.headers.get("x-forwarded-for")).toBe("192.0.2.7");
    expect(service.calls[0]?.headers.has("cookie")).toBe(false);
  });

  test("a refresh wants the CSRF token of the session, which a page can ask for", async () => {
    answers = (path) =>
      path.endsWith("refresh")
        ? session({ refreshToken: "second", accessToken: `x.${Buffer.from('{"sid":"s1"}').toString("base64url")}.` })
        : session({ refreshToken: "first", accessToken: `x.${Buffer.from('{"sid":"s1"}').toString("base64url")}.` });
    await signIn();
    const refresh = (token: string) => page.call("POST", "/auth/api/auth/refresh?client_type=web", { "x-csrf-token": token });

    for (const wrong of ["", "other"]) expect((await (await refresh(wrong)).json()).error).toBe("INVALID_CSRF_TOKEN");
    expect(page.jar.get(REFRESH)).toBe("first");
    const token = await tokenOf();
    expect(token).toBe("s1");
    const body = await (await refresh(token)).json();

    expect(body).toMatchObject({ csrfToken: "s1", accessToken: expect.any(String) });
    expect(body).not.toHaveProperty("refreshToken");
    expect(service.calls.at(-1)?.body).toEqual({ refreshToken: "first" });
    expect(page.jar.get(REFRESH)).toBe("second");
  });

  test("a session that a form of the app opened is found by the page", async () => {
    page.jar.set(ACCESS, accessToken()).set(REFRESH, "of-the-form");

    expect((await page.call("POST", "/auth/api/auth/refresh", { "x-csrf-token": await tokenOf() })).status).toBe(200);
    expect(service.calls[0]?.body).toEqual({ refreshToken: "of-the-form" });
  });

  test("without a session there is no CSRF token and no refresh", async () => {
    expect((await page.call("GET", "/auth/api/auth/csrf")).status).toBe(401);
    expect((await page.call("POST", "/auth/api/auth/refresh", { "x-csrf-token": "x" })).status).toBe(401);
    expect(service.calls).toHaveLength(0);
  });

  test.each([
    [refusal(401, "AUTH_UNAUTHORIZED"), false],
    [refusal(403, "USER_BANNED"), false],
    [refusal(503, "SERVICE_BUSY"), true],
    [{ status: 502, body: "<html>" }, true],
    ["lost" as const, true],
  ])("a refresh that ends with %j keeps the cookies: %s", async (answer, isKept) => {
    await signIn();
    answers = () => answer;

    const { status } = await page.call("POST", "/auth/api/auth/refresh", { "x-csrf-token": await tokenOf() });

    expect(status).toBe(answer === "lost" ? 502 : answer.status);
    expect(page.jar.size).toBe(isKept ? 2 : 0);
  });

  test("a sign-out removes the cookies even if the service is unreachable", async () => {
    await signIn();
    answers = () => "lost";

    const token = await tokenOf();
    const answer = await page.call("POST", "/auth/api/auth/logout?client_type=web", { "x-csrf-token": token });

    expect(answer.status).toBe(502);
    expect((await answer.json()).error).toBe("NETWORK_ERROR");
    expect(page.jar.size).toBe(0);
  });

  test("a sign-out by its bearer leaves the cookies, which are of another session", async () => {
    await signIn();

    await page.call("POST", "/auth/api/auth/logout?client_type=server", { authorization: "Bearer other" });

    expect(service.calls.at(-1)?.headers.get("authorization")).toBe("Bearer other");
    expect(service.calls.at(-1)?.body).toEqual({});
    expect(page.jar.size).toBe(2);
  });

  test("headers that concern the caller come back", async () => {
    answers = () => ({ ...(refusal(429, "TOO_MANY_REQUESTS") as object), headers: { "retry-after": "7", "x-request-id": "r1" } });

    const { error } = await signIn();

    expect(error).toMatchObject({ error: "TOO_MANY_REQUESTS", retryAfter: 7, requestId: "r1" });
  });
});
