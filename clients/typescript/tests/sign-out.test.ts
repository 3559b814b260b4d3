// @vitest-environment happy-dom
// signOut: immediate, pending without a network, and its scope.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../src/index.js";
import { accessTokenOf, type Call, fakeService, refusal, session, USER } from "./support/fake-service.js";
import { fakeLocks } from "./support/locks.js";
import { baseUrl, closeTabs, CREDENTIALS, CSRF_KEY, eventsOf, gate, openTab, PENDING_KEY, sessionOf } from "./support/tab.js";

const LOGOUT = "/api/auth/logout";
const logouts = (calls: Call[]): Call[] => calls.filter(({ path }) => path === LOGOUT);
const goOnline = (): boolean => window.dispatchEvent(new Event("online"));

/** Service that can be unreachable, and identifies the cookie's session by its CSRF token. */
function service() {
  const state = { isLost: false, cookie: "" };
  const fake = fakeService(
    ({ path, headers, body }) => {
      if (state.isLost) return "lost";
      if (path === "/api/auth/sessions" && body.email) {
        state.cookie = `csrf-${String(body.email)}`;
        return sessionOf(String(body.email));
      }
      if (path !== LOGOUT) return sessionOf(state.cookie.slice(5));
      if (state.cookie && headers.get("x-csrf-token") !== state.cookie) return refusal(403, "INVALID_CSRF_TOKEN");
      state.cookie = "";
      return { body: { success: true, message: "" } };
    },
    () => (state.isLost ? "lost" : state.cookie ? { body: { csrfToken: state.cookie } } : refusal(401, "AUTH_UNAUTHORIZED")),
  );
  return { ...fake, state };
}

const signIn = (tab: ReturnType<typeof openTab>, email = "u1") => tab.auth.signInWithPassword({ ...CREDENTIALS, email });

beforeEach(() => {
  localStorage.clear();
  vi.stubGlobal("navigator", { locks: fakeLocks() });
});
afterEach(() => {
  closeTabs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("a sign-out", () => {
  test("is sent at once, outlives the page, and takes effect before the response", async () => {
    const options: (RequestInit | undefined)[] = [];
    const fake = fakeService(({ path }) => (path === LOGOUT ? new Promise<never>(() => undefined) : session()));
    const fetch: typeof globalThis.fetch = (input, init) => {
      options.push(init);
      return fake.fetch(input, init);
    };
    const tab = openTab({ ...fake, fetch });
    await tab.auth.signInWithPassword(CREDENTIALS);

    void tab.auth.signOut();
    await Promise.resolve();

    expect(logouts(fake.calls)).toHaveLength(1);
    expect(options.at(-1)).toMatchObject({ keepalive: true, credentials: "include" });
    expect(logouts(fake.calls)[0]?.headers.get("x-csrf-token")).toBe("csrf");
    expect((await tab.auth.getCurrentSession()).data?.session).toBeNull();
    expect(localStorage.getItem(CSRF_KEY)).toBeNull();
  });

  test("does not wait for a refresh that hangs", async () => {
    const fake = fakeService(({ path }) =>
      path === "/api/auth/refresh" ? new Promise<never>(() => undefined) : session(),
    );
    const [here, there] = [openTab(fake), openTab(fake)];
    await here.auth.signInWithPassword(CREDENTIALS);
    await expect.poll(async () => (await there.auth.getCurrentSession()).data?.session).toBeTruthy();
    void there.auth.refreshSession();
    await expect.poll(() => fake.calls.some(({ path }) => path === "/api/auth/refresh")).toBe(true);

    expect(await here.auth.signOut()).toEqual({ error: null });
  });

  test("an immediate sign-in is sent after it, because its response removes the cookie", async () => {
    const { passed, open } = gate();
    const fake = fakeService(async ({ path }) => {
      if (path === LOGOUT) await passed;
      return session();
    });
    const tab = openTab(fake);
    await tab.auth.signInWithPassword(CREDENTIALS);

    const out = tab.auth.signOut();
    const signingIn = tab.auth.signInWithPassword(CREDENTIALS);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(fake.calls.map((call) => call.path)).toEqual(["/api/auth/sessions", LOGOUT]);
    open();

    expect([(await out).error, (await signingIn).error]).toEqual([null, null]);
    expect((await tab.auth.getCurrentUser()).data?.user).toEqual(USER);
  });

  test("ends the session by its token where the cookie is that of another session", async () => {
    const fake = fakeService(({ path, query }) => {
      const isCookie = path === LOGOUT && query.get("client_type") === "web";
      return isCookie ? refusal(403, "INVALID_CSRF_TOKEN") : session();
    });
    const tab = openTab(fake);
    const { data } = await tab.auth.signInWithPassword(CREDENTIALS);

    expect(await tab.auth.signOut()).toEqual({ error: null });
    expect(fake.calls.at(-1)?.headers.get("authorization")).toBe(`Bearer ${data?.accessToken}`);
  });

  test("right after a reload ends the session of the cookie", async () => {
    const fake = service();
    const before = openTab(fake);
    await signIn(before);
    before.close();

    expect(await openTab(fake).auth.signOut()).toEqual({ error: null });

    expect(fake.state.cookie).toBe("");
    expect(fake.calls.map((call) => call.path)).toEqual(["/api/auth/sessions", LOGOUT]);
  });

  test("without a session is no error", async () => {
    expect(await openTab(service()).auth.signOut()).toEqual({ error: null });
  });
});

describe("a sign-out without a network", () => {
  test("ends the session in this browser, for reloads too, and reports it as pending", async () => {
    const fake = service();
    const tab = openTab(fake);
    await signIn(tab);
    const heard = eventsOf(tab);
    await expect.poll(() => heard).toHaveLength(1);

    fake.state.isLost = true;
    const result = await tab.auth.signOut();

    expect(result).toMatchObject({ error: { error: "NETWORK_ERROR" }, pending: true });
    expect(heard).toEqual(["INITIAL_SESSION u1", "SIGNED_OUT -"]);
    expect((await tab.auth.getCurrentUser()).data).toEqual({ user: null });
    expect((await openTab(fake).auth.getCurrentUser()).data).toEqual({ user: null });
  });

  test("is sent when the network is back", async () => {
    const fake = service();
    const tab = openTab(fake);
    await signIn(tab);
    fake.state.isLost = true;
    await tab.auth.signOut();

    fake.state.isLost = false;
    goOnline();

    await expect.poll(() => fake.state.cookie).toBe("");
    await expect.poll(() => localStorage.getItem(PENDING_KEY)).toBeNull();
  });

  test("is sent at the next start, before all else, and the cookie opens nothing meanwhile", async () => {
    const fake = service();
    const before = openTab(fake);
    await signIn(before);
    fake.state.isLost = true;
    await before.auth.signOut();
    before.close();
    fake.calls.splice(0);

    fake.state.isLost = false;
    const tab = openTab(fake);
    const heard = eventsOf(tab);
    await expect.poll(() => fake.state.cookie).toBe("");

    expect(fake.calls[0]?.path).toBe(LOGOUT);
    await expect.poll(() => heard).toEqual(["INITIAL_SESSION -"]);
    expect(fake.calls.map((call) => call.path)).not.toContain("/api/auth/refresh");
  });

  test("writes the CSRF token down and no other", async () => {
    const fake = service();
    const tab = openTab(fake);
    const { data } = await signIn(tab);
    fake.state.isLost = true;
    await tab.auth.signOut();

    expect({ ...localStorage }).toEqual({ [PENDING_KEY]: "csrf-u1" });
    expect(JSON.stringify({ ...localStorage, ...sessionStorage })).not.toContain(data?.accessToken);
  });

  test("does not end the session of a sign-in that came meanwhile, and ends the old one", async () => {
    const fake = service();
    const tab = openTab(fake);
    await signIn(tab);
    const bearer = `Bearer ${(await tab.auth.getCurrentSession()).data?.session?.accessToken}`;
    fake.state.isLost = true;
    await tab.auth.signOut();
    // The sign-in reaches the service before the sign-out does.
    localStorage.removeItem(PENDING_KEY);
    fake.state.isLost = false;
    await signIn(tab, "u2");
    localStorage.setItem(PENDING_KEY, "csrf-u1");
    fake.calls.splice(0);

    goOnline();
    await expect.poll(() => localStorage.getItem(PENDING_KEY)).toBeNull();

    expect(fake.state.cookie).toBe("csrf-u2");
    expect(localStorage.getItem(CSRF_KEY)).toBe("csrf-u2");
    expect((await tab.auth.getCurrentUser()).data?.user?.id).toBe("u2");
    for (const call of logouts(fake.calls)) expect(call.headers.get("x-csrf-token") ?? "csrf-u1").toBe("csrf-u1");
    expect(logouts(fake.calls)[0]?.headers.get("authorization")).toBe(bearer);
  });

  test("a sign-out at a busy service is retried before the next sign-in", async () => {
    let isBusy = true;
    const fake = fakeService(({ path }) => (path === LOGOUT && isBusy ? refusal(503, "SERVICE_BUSY") : session()));
    const tab = openTab(fake);
    await tab.auth.signInWithPassword(CREDENTIALS);
    expect(await tab.auth.signOut()).toMatchObject({ error: { error: "SERVICE_BUSY" }, pending: true });
    isBusy = false;

    await tab.auth.signInWithPassword(CREDENTIALS);

    expect(fake.calls.map((call) => call.path)).toEqual(["/api/auth/sessions", LOGOUT, LOGOUT, "/api/auth/sessions"]);
    expect(localStorage.getItem(PENDING_KEY)).toBeNull();
  });

  test("a refusal of the service is not pending", async () => {
    const tab = openTab(fakeService(({ path }) => (path === LOGOUT ? refusal(400, "VALIDATION_ERROR") : session())));
    await tab.auth.signInWithPassword(CREDENTIALS);

    const result = await tab.auth.signOut();

    expect(result.error?.error).toBe("VALIDATION_ERROR");
    expect(result).not.toHaveProperty("pending");
  });

  test("an app that keeps its refresh token ends the session by it", async () => {
    let isLost = false;
    const fake = fakeService(() => (isLost ? "lost" : session({ csrfToken: undefined, refreshToken: "kept" })));
    const app = createClient({ baseUrl, fetch: fake.fetch, clientType: "mobile" });
    await app.auth.signInWithPassword(CREDENTIALS);
    isLost = true;
    expect(await app.auth.signOut()).toMatchObject({ pending: true });
    app.close();
    isLost = false;

    const restarted = createClient({ baseUrl, fetch: fake.fetch, clientType: "mobile" });

    await expect.poll(() => fake.calls.at(-1)).toMatchObject({ path: LOGOUT, body: { refreshToken: "kept" } });
    restarted.close();
  });

  test("a client in server mode keeps nothing", async () => {
    const { fetch } = fakeService(() => "lost");
    const client = createClient({ baseUrl, fetch, isServerMode: true, refreshToken: "r", accessToken: accessTokenOf("u") });

    expect(await client.auth.signOut()).toEqual({ error: expect.objectContaining({ error: "NETWORK_ERROR" }) });
    expect(localStorage).toHaveLength(0);
  });
});

describe("the scope of a sign-out", () => {
  const OTHERS = "DELETE /api/auth/sessions?others=true";
  const said = (calls: Call[]): string[] => calls.map(({ method, path, query }) => `${method} ${path}?${query}`);

  test("others: this session continues, and no event is emitted", async () => {
    const fake = service();
    const tab = openTab(fake);
    await signIn(tab);
    const heard = eventsOf(tab);
    await expect.poll(() => heard).toHaveLength(1);

    expect(await tab.auth.signOut({ scope: "others" })).toEqual({ error: null });

    expect(said(fake.calls).slice(1)).toEqual([OTHERS]);
    expect(heard).toEqual(["INITIAL_SESSION u1"]);
    expect(fake.state.cookie).toBe("csrf-u1");
  });

  test("all: the others, then this one, and SIGNED_OUT at once", async () => {
    const { passed, open } = gate();
    const fake = fakeService(async ({ method }) => {
      if (method === "DELETE") await passed;
      return session();
    });
    const tab = openTab(fake);
    await tab.auth.signInWithPassword(CREDENTIALS);
    const heard = eventsOf(tab);
    await expect.poll(() => heard).toHaveLength(1);

    const out = tab.auth.signOut({ scope: "all" });
    await expect.poll(() => heard.at(-1)).toBe("SIGNED_OUT -");
    open();

    expect(await out).toEqual({ error: null });
    expect(said(fake.calls).slice(1)).toEqual([OTHERS, "POST /api/auth/logout?client_type=web"]);
  });

  test("all, right after a reload: finds the session first", async () => {
    const fake = service();
    const before = openTab(fake);
    await signIn(before);
    before.close();
    fake.calls.splice(0);

    expect(await openTab(fake).auth.signOut({ scope: "all" })).toEqual({ error: null });

    expect(fake.calls.map((call) => call.path)).toEqual(["/api/auth/refresh", "/api/auth/sessions", LOGOUT]);
    expect(fake.state.cookie).toBe("");
  });

  test("all, without a network: both are sent when it is back", async () => {
    const fake = service();
    const tab = openTab(fake);
    await signIn(tab);
    fake.state.isLost = true;
    expect(await tab.auth.signOut({ scope: "all" })).toMatchObject({ pending: true });
    fake.state.isLost = false;
    fake.calls.splice(0);

    goOnline();

    await expect.poll(() => fake.state.cookie).toBe("");
    expect(said(fake.calls)).toEqual([OTHERS, "POST /api/auth/logout?client_type=web"]);
  });

  test("this: is the default", async () => {
    const fake = service();
    const tab = openTab(fake);
    await signIn(tab);

    await tab.auth.signOut({ scope: "this" });

    expect(said(fake.calls).slice(1)).toEqual(["POST /api/auth/logout?client_type=web"]);
  });
});

describe("SIGNED_OUT at once", () => {
  const withSid = (sid: string): string => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const iat = Math.floor(Date.now() / 1000);
    return `${part({ alg: "none" })}.${part({ sub: USER.id, sid, iat, exp: iat + 900 })}.`;
  };
  const OWN = "0199a1b2-c3d4-7e5f-8a9b-000000000001";

  test.each([
    ["endSession of the own session", OWN, "SIGNED_OUT -"],
    ["endSession of the own session, in capitals", OWN.toUpperCase(), "SIGNED_OUT -"],
    ["not by endSession of another session", "0199a1b2-c3d4-7e5f-8a9b-000000000002", `INITIAL_SESSION ${USER.id}`],
  ])("%s", async (_, id, last) => {
    const tab = openTab(fakeService(() => session({ accessToken: withSid(OWN), success: true, endedCount: 1 })));
    await tab.auth.signInWithPassword(CREDENTIALS);
    const heard = eventsOf(tab);
    await expect.poll(() => heard).toHaveLength(1);

    await tab.auth.endSession(id);

    expect(heard.at(-1)).toBe(last);
  });

  test("resetPassword, in every tab", async () => {
    const fake = fakeService(() => session());
    const [here, there] = [openTab(fake), openTab(fake)];
    await here.auth.signInWithPassword(CREDENTIALS);
    const [heard, heardThere] = [eventsOf(here), eventsOf(there)];
    await expect.poll(() => [heard.length, heardThere.length]).toEqual([1, 1]);

    await here.auth.resetPassword({ newPassword: "staple of the battery", otp: "token" });

    expect(heard.at(-1)).toBe("SIGNED_OUT -");
    await expect.poll(() => heardThere.at(-1)).toBe("SIGNED_OUT -");
  });

  test("not by a reset that was refused", async () => {
    const tab = openTab(fakeService(({ path }) => (path.endsWith("reset-password") ? refusal(400, "INVALID_CODE") : session())));
    await tab.auth.signInWithPassword(CREDENTIALS);

    await tab.auth.resetPassword({ newPassword: "staple of the battery", otp: "token" });

    expect((await tab.auth.getCurrentSession()).data?.session?.user).toEqual(USER);
  });
});
