// @latchkey/client/ssr: the session in the app's cookies.
import { describe, expect, inject, test } from "vitest";
import { createServerClient, headerCookies, type LatchkeyClient } from "../src/ssr.js";
import { accessToken, fakeService, refusal, session } from "./support/fake-service.js";
import { must, newUser, PASSWORD } from "./support/people.js";

/** Browser of the app: cookies are sent with each request and updated by responses. */
function newVisitor(options: Partial<Parameters<typeof createServerClient>[0]> = {}) {
  const jar = new Map<string, string>();
  const written: string[] = [];
  const request = (): LatchkeyClient => {
    const header = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const cookies = headerCookies(header, (cookie) => {
      written.push(cookie);
      const [name = "", value = ""] = (cookie.split(";")[0] ?? "").split("=");
      if (/Max-Age=0(;|$)/.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    });
    return createServerClient({ baseUrl: inject("open"), cookies, ...options });
  };
  return { jar, written, request };
}

describe("against the running service", () => {
  test("a sign-in is there at the next request, and gone after sign-out", async () => {
    const visitor = newVisitor();
    const { email } = await newUser(visitor.request());
    expect(must(await visitor.request().auth.getCurrentUser()).user?.email).toBe(email);

    expect(await visitor.request().auth.signOut()).toEqual({ error: null });
    expect(visitor.jar.size).toBe(0);
    expect(must(await visitor.request().auth.getCurrentUser()).user).toBeNull();

    must(await visitor.request().auth.signInWithPassword({ email, password: PASSWORD }));
    expect((await visitor.request().profiles.me()).data?.name).toBe("Ada Lovelace");
  });

  test("the cookies are out of reach of scripts and of other sites", async () => {
    const visitor = newVisitor();
    await newUser(visitor.request());

    expect(visitor.written).toHaveLength(2);
    for (const cookie of visitor.written) {
      expect(cookie).toMatch(/^__Host-latchkey-(access|refresh)=[\w.-]+; Path=\/; Max-Age=7776000; SameSite=lax; HttpOnly; Secure$/);
    }
  });

  test("a visitor whose access token is gone is refreshed", async () => {
    const visitor = newVisitor();
    const { email } = await newUser(visitor.request());
    visitor.jar.delete("__Host-latchkey-access");

    expect(must(await visitor.request().auth.getCurrentUser()).user?.email).toBe(email);
    expect(visitor.jar.get("__Host-latchkey-access")).toMatch(/^ey/);
  });
});

describe("one refresh per request", () => {
  test("serves all calls of the request, and its tokens are written back", async () => {
    const { fetch, calls } = fakeService(({ path }) => (path === "/api/auth/refresh" ? session({ refreshToken: "second" }) : { body: {} }));
    const visitor = newVisitor({ fetch });
    visitor.jar.set("__Host-latchkey-access", accessToken(-10)).set("__Host-latchkey-refresh", "first");

    const client = visitor.request();
    await Promise.all([client.profiles.me(), client.auth.getCurrentUser(), client.auth.listSessions()]);
    await client.profiles.me();

    const refreshes = calls.filter((call) => call.path === "/api/auth/refresh");
    expect(refreshes.map((call) => call.body)).toEqual([{ refreshToken: "first" }]);
    expect(refreshes[0]?.query.get("client_type")).toBe("server");
    expect(visitor.jar.get("__Host-latchkey-refresh")).toBe("second");
  });

  test.each([
    ["nobody answers", "lost" as const],
    ["what is asked for is refused", refusal(401, "AUTH_UNAUTHORIZED")],
  ])("is not repeated where %s", async (_, answer) => {
    const { fetch, calls } = fakeService(({ path }) => {
      if (path !== "/api/auth/refresh") return refusal(401, "AUTH_UNAUTHORIZED");
      return answer === "lost" ? answer : session({ refreshToken: "second" });
    });
    const visitor = newVisitor({ fetch });
    visitor.jar.set("__Host-latchkey-access", accessToken(-10)).set("__Host-latchkey-refresh", "first");

    const client = visitor.request();
    await client.auth.getCurrentUser();
    await client.profiles.me();
    await client.auth.listSessions();

    expect(calls.filter((call) => call.path === "/api/auth/refresh")).toHaveLength(1);
  });

  test("happens not at all where cookies cannot be set", async () => {
    const { fetch, calls } = fakeService(() => refusal(401, "AUTH_UNAUTHORIZED"));
    const jar: Record<string, string> = { "__Host-latchkey-access": accessToken(-10), "__Host-latchkey-refresh": "first" };
    const client = createServerClient({ baseUrl: "http://fake.example", fetch, cookies: { get: (name) => jar[name] } });

    await client.profiles.me();

    expect(calls.map((call) => call.path)).toEqual(["/api/profiles/me"]);
  });

  test("is not refreshed if cookies cannot be set and the access token expired: no user, and no request", async () => {
    const { fetch, calls } = fakeService(() => session());
    const jar: Record<string, string> = { "__Host-latchkey-access": accessToken(-10), "__Host-latchkey-refresh": "first" };
    const { auth } = createServerClient({ baseUrl: "http://fake.example", fetch, cookies: { get: (name) => jar[name] } });

    expect(await auth.getCurrentUser()).toEqual({ data: { user: null }, error: null });
    expect(await auth.getCurrentSession()).toEqual({ data: { session: null }, error: null });
    expect((await auth.refreshSession()).error?.error).toBe("AUTH_UNAUTHORIZED");
    expect(calls).toHaveLength(0);
  });

  test("is not refreshed if cookies cannot be set and the service refuses the token: no user", async () => {
    const { fetch } = fakeService(() => refusal(401, "AUTH_UNAUTHORIZED"));
    const jar: Record<string, string> = { "__Host-latchkey-access": accessToken(), "__Host-latchkey-refresh": "first" };
    const { auth } = createServerClient({ baseUrl: "http://fake.example", fetch, cookies: { get: (name) => jar[name] } });

    expect(await auth.getCurrentUser()).toEqual({ data: { user: null }, error: null });
    expect(await auth.getCurrentSession()).toEqual({ data: { session: null }, error: null });
  });

  test("is not replaced by a signed-out state if the service is busy", async () => {
    const { fetch } = fakeService(() => refusal(503, "SERVICE_BUSY"));
    const jar: Record<string, string> = { "__Host-latchkey-access": accessToken() };
    const { auth } = createServerClient({ baseUrl: "http://fake.example", fetch, cookies: { get: (name) => jar[name] } });

    expect((await auth.getCurrentUser()).error?.error).toBe("SERVICE_BUSY");
  });

  test("that is refused removes the cookies", async () => {
    const { fetch } = fakeService(() => refusal(401, "AUTH_UNAUTHORIZED"));
    const visitor = newVisitor({ fetch });
    visitor.jar.set("__Host-latchkey-access", accessToken(-10)).set("__Host-latchkey-refresh", "first");

    expect(await visitor.request().auth.getCurrentUser()).toEqual({ data: { user: null }, error: null });
    expect(visitor.jar.size).toBe(0);
  });

  test("that a lost network prevents removes nothing", async () => {
    const visitor = newVisitor({ fetch: fakeService(() => "lost").fetch });
    visitor.jar.set("__Host-latchkey-access", accessToken(-10)).set("__Host-latchkey-refresh", "first");

    expect((await visitor.request().auth.getCurrentUser()).error?.error).toBe("NETWORK_ERROR");
    expect(visitor.jar.size).toBe(2);
  });
});

test("a sign-in by OAuth keeps its verifier in a cookie for longer than a flow of the pages", async () => {
  const { fetch, calls } = fakeService(({ path }) =>
    path.endsWith("exchange") ? session({ refreshToken: "first" }) : { body: { authUrl: "https://provider.example" } },
  );
  const visitor = newVisitor({ fetch, cookieName: "app", cookieOptions: { secure: false } });

  const { data } = await visitor.request().auth.signInWithOAuth({ provider: "google", redirectTo: "http://app.example" });
  expect(visitor.written).toEqual([`app-verifier=${data?.codeVerifier}; Path=/; Max-Age=3000; SameSite=lax; HttpOnly`]);
  await visitor.request().auth.exchangeOAuthCode("the-code");

  expect(calls[1]?.body).toEqual({ code: "the-code", code_verifier: data?.codeVerifier });
  expect([...visitor.jar.keys()].sort()).toEqual(["app-access", "app-refresh"]);
});

test("of two cookies by one name that differ none is taken", () => {
  const cookies = headerCookies("a=planted; b=1; a=own; b=1; a=own", () => undefined);

  expect(cookies.get("a")).toBeUndefined();
  expect(cookies.get("b")).toBe("1");
});
