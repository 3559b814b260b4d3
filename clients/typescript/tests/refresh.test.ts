// Session refresh: time, frequency, and end of the session.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../src/index.js";
import { accessToken, type Call, fakeService, refusal, session, USER } from "./support/fake-service.js";

const baseUrl = "http://fake.example";
const CREDENTIALS = { email: USER.email, password: "correct horse battery" };
const REFRESH = "/api/auth/refresh";

/** Number of calls per path. */
const count = (calls: Call[], path: string): number => calls.filter((call) => call.path === path).length;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("once on 401 AUTH_UNAUTHORIZED", () => {
  test("a call is repeated with the fresh token", async () => {
    const { fetch, calls } = fakeService(({ path }) => {
      if (path !== "/api/profiles/me") return session();
      return count(calls, path) === 1 ? refusal(401, "AUTH_UNAUTHORIZED") : { body: { id: "1" } };
    });
    const client = createClient({ baseUrl, fetch });
    await client.auth.signInWithPassword(CREDENTIALS);

    const { data } = await client.profiles.me();

    expect(data).toEqual({ id: "1" });
    expect(calls.map((call) => call.path)).toEqual(["/api/auth/sessions", "/api/profiles/me", REFRESH, "/api/profiles/me"]);
    expect(calls[2]?.headers.get("x-csrf-token")).toBe("csrf");
    expect(calls[3]?.headers.get("authorization")).not.toBe(calls[1]?.headers.get("authorization"));
  });

  test("only once: the second refusal is returned", async () => {
    const { fetch, calls } = fakeService(({ path }) =>
      path === "/api/profiles/me" ? refusal(401, "AUTH_UNAUTHORIZED") : session(),
    );
    const client = createClient({ baseUrl, fetch });
    await client.auth.signInWithPassword(CREDENTIALS);

    expect((await client.profiles.me()).error?.error).toBe("AUTH_UNAUTHORIZED");
    expect(count(calls, "/api/profiles/me")).toBe(2);
    expect(count(calls, REFRESH)).toBe(1);
  });

  test("many calls at once share one refresh", async () => {
    const stale = accessToken();
    const { fetch, calls } = fakeService(({ path, headers }) => {
      if (path === "/api/auth/sessions") return session({ accessToken: stale });
      if (path === REFRESH) return session();
      return headers.get("authorization") === `Bearer ${stale}` ? refusal(401, "AUTH_UNAUTHORIZED") : { body: {} };
    });
    const client = createClient({ baseUrl, fetch });
    await client.auth.signInWithPassword(CREDENTIALS);

    const results = await Promise.all(Array.from({ length: 10 }, () => client.profiles.me()));

    expect(results.every((result) => result.error === null)).toBe(true);
    expect(count(calls, REFRESH)).toBe(1);
  });

  test("another refusal with status 401 refreshes nothing", async () => {
    const { fetch, calls } = fakeService(({ path }) =>
      path === "/api/auth/password" ? refusal(401, "INVALID_CREDENTIALS") : session(),
    );
    const client = createClient({ baseUrl, fetch });
    await client.auth.signInWithPassword(CREDENTIALS);

    await client.auth.changePassword({ currentPassword: "wrong", newPassword: "staple of the battery" });

    expect(count(calls, REFRESH)).toBe(0);
  });
});

describe("shortly before the end", () => {
  test("a call refreshes first", async () => {
    const { fetch, calls } = fakeService(() => session());
    const client = createClient({ baseUrl, fetch });
    await client.auth.signInWithPassword(CREDENTIALS);

    vi.setSystemTime(Date.now() + 13 * 60_000);
    await client.profiles.me();
    expect(count(calls, REFRESH)).toBe(0);
    vi.setSystemTime(Date.now() + 90_000);
    await client.profiles.me();

    expect(count(calls, REFRESH)).toBe(1);
  });

  test("a live client keeps refreshing automatically", async () => {
    const { fetch, calls } = fakeService(() => session({ refreshToken: "next" }));
    const client = createClient({ baseUrl, fetch, clientType: "mobile" });
    await client.auth.signInWithPassword(CREDENTIALS);

    await vi.advanceTimersByTimeAsync(13 * 60_000);
    expect(count(calls, REFRESH)).toBe(0);
    await vi.advanceTimersByTimeAsync(60 * 60_000);

    expect(count(calls, REFRESH)).toBe(5);
    expect(calls.at(-1)?.body).toEqual({ refreshToken: "next" });
    client.close();
    await vi.advanceTimersByTimeAsync(60 * 60_000);
    expect(count(calls, REFRESH)).toBe(5);
  });

  test("a client in server mode never does it by itself", async () => {
    const { fetch, calls } = fakeService(() => session({ refreshToken: "next" }));
    const client = createClient({ baseUrl, fetch, isServerMode: true });
    await client.auth.signInWithPassword(CREDENTIALS);

    await vi.advanceTimersByTimeAsync(60 * 60_000);
    await client.profiles.me();

    expect(count(calls, REFRESH)).toBe(0);
  });
});

describe("a lost network", () => {
  test.each([
    ["a lost network", "lost" as const],
    ["a busy service", refusal(503, "SERVICE_BUSY")],
    ["a limit", refusal(429, "TOO_MANY_REQUESTS")],
    ["a proxy's page", { status: 502, body: "<html>" }],
    ["a stranger's JSON", { body: { status: "please log in" } }],
  ])("%s signs nobody out", async (_, failing) => {
    let isLost = false;
    const { fetch } = fakeService(() => (isLost ? failing : session({ refreshToken: "next" })));
    const client = createClient({ baseUrl, fetch, clientType: "mobile" });
    await client.auth.signInWithPassword(CREDENTIALS);
    const heard: string[] = [];
    client.auth.onAuthStateChange((event) => heard.push(event));

    isLost = true;
    await vi.advanceTimersByTimeAsync(30 * 60_000);
    const offline = await client.auth.getCurrentUser();
    isLost = false;
    await vi.advanceTimersByTimeAsync(60_000);
    const online = await client.profiles.me();

    expect(offline.data?.user?.email).toBe(USER.email);
    expect(online.error).toBeNull();
    expect(heard).toEqual(["INITIAL_SESSION", "TOKEN_REFRESHED"]);
    client.close();
  });

  test("is the error of a call whose refresh it made impossible", async () => {
    const { fetch } = fakeService(({ path }) => {
      if (path === "/api/auth/sessions") return session();
      return path === REFRESH ? "lost" : refusal(401, "AUTH_UNAUTHORIZED");
    });
    const client = createClient({ baseUrl, fetch });
    await client.auth.signInWithPassword(CREDENTIALS);

    expect((await client.profiles.me()).error?.error).toBe("NETWORK_ERROR");
  });

  test("is not retried by every call while the token is valid", async () => {
    const { fetch, calls } = fakeService(({ path }) =>
      path === REFRESH ? refusal(503, "SERVICE_BUSY") : session({ refreshToken: "next" }),
    );
    const client = createClient({ baseUrl, fetch, clientType: "mobile" });
    await client.auth.signInWithPassword(CREDENTIALS);
    await vi.advanceTimersByTimeAsync(14 * 60_000);

    for (let i = 0; i < 10; i++) await client.profiles.me();

    expect(count(calls, REFRESH)).toBe(1);
    client.close();
  });

  test("is asked again with growing pauses", async () => {
    const { fetch, calls } = fakeService(({ path }) => (path === REFRESH ? "lost" : session({ refreshToken: "next" })));
    const client = createClient({ baseUrl, fetch, clientType: "desktop" });
    await client.auth.signInWithPassword(CREDENTIALS);

    await vi.advanceTimersByTimeAsync(14 * 60_000);
    expect(count(calls, REFRESH)).toBe(1);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(count(calls, REFRESH)).toBe(2);
    await vi.advanceTimersByTimeAsync(9_000);
    expect(count(calls, REFRESH)).toBe(2);
    await vi.advanceTimersByTimeAsync(60 * 60_000);

    expect(count(calls, REFRESH)).toBeLessThan(65);
    client.close();
  });
});

describe("the end of a session", () => {
  test.each(["AUTH_UNAUTHORIZED", "INVALID_CSRF_TOKEN", "USER_BANNED"])(
    "a refresh refused with %s signs out",
    async (code) => {
      const { fetch } = fakeService(({ path }) => (path === REFRESH ? refusal(401, code) : session()));
      const client = createClient({ baseUrl, fetch });
      await client.auth.signInWithPassword(CREDENTIALS);
      const heard: string[] = [];
      client.auth.onAuthStateChange((event) => heard.push(event));
      await vi.advanceTimersByTimeAsync(0);

      const { error } = await client.auth.refreshSession();

      expect(error?.error).toBe(code);
      expect(heard).toEqual(["INITIAL_SESSION", "SIGNED_OUT"]);
      expect((await client.auth.getCurrentUser()).data).toEqual({ user: null });
    },
  );

  test("a refresh ahead of time that is refused ends it when the access token ends", async () => {
    const { fetch } = fakeService(({ path }) =>
      path === REFRESH ? refusal(401, "AUTH_UNAUTHORIZED") : session({ refreshToken: "next" }),
    );
    const client = createClient({ baseUrl, fetch, clientType: "mobile" });
    const heard: string[] = [];
    client.auth.onAuthStateChange((event) => heard.push(event));
    await client.auth.signInWithPassword(CREDENTIALS);

    await vi.advanceTimersByTimeAsync(14.5 * 60_000);
    expect(heard).not.toContain("SIGNED_OUT");
    await vi.advanceTimersByTimeAsync(60_000);

    expect(heard).toContain("SIGNED_OUT");
    client.close();
  });

  test("a sign-out during a refresh wins", async () => {
    let answer: () => void = () => undefined;
    const { fetch } = fakeService(async ({ path }) => {
      if (path === REFRESH) await new Promise<void>((resolve) => (answer = resolve));
      return session({ refreshToken: "next" });
    });
    const client = createClient({ baseUrl, fetch, clientType: "mobile" });
    await client.auth.signInWithPassword(CREDENTIALS);

    const refreshing = client.auth.refreshSession();
    await vi.advanceTimersByTimeAsync(0);
    await client.auth.signOut();
    answer();

    expect((await refreshing).error?.error).toBe("AUTH_UNAUTHORIZED");
    expect((await client.auth.getCurrentSession()).data?.session).toBeNull();
    client.close();
  });

  test("a token that cannot be read is refreshed neither at once nor never", async () => {
    const { fetch, calls } = fakeService(() => session({ accessToken: "opaque", refreshToken: "next" }));
    const client = createClient({ baseUrl, fetch, clientType: "mobile" });
    await client.auth.signInWithPassword(CREDENTIALS);

    await vi.advanceTimersByTimeAsync(10 * 60_000);

    expect(count(calls, REFRESH)).toBe(2);
    client.close();
  });
});
