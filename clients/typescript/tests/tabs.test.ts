// @vitest-environment happy-dom
// Tabs of a site: shared refreshes, order of events, identity of the user object.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { fakeService, refusal, session, USER } from "./support/fake-service.js";
import { fakeLocks } from "./support/locks.js";
import { closeTabs, CREDENTIALS, eventsOf, gate, openTab, sessionOf } from "./support/tab.js";

const REFRESH = "/api/auth/refresh";
const forever = (): Promise<never> => new Promise(() => undefined);

beforeEach(() => {
  localStorage.clear();
  vi.stubGlobal("navigator", { locks: fakeLocks() });
});
afterEach(() => {
  closeTabs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("a tab that needs a token", () => {
  test("takes the live one of another tab, and refreshes nothing", async () => {
    const fake = fakeService(() => session());
    const first = openTab(fake);
    const { data } = await first.auth.signInWithPassword(CREDENTIALS);
    const heard = eventsOf(first);
    await expect.poll(() => heard).toHaveLength(1);

    const second = openTab(fake);
    const heardThere = eventsOf(second);

    expect((await second.auth.getCurrentSession()).data?.session?.accessToken).toBe(data?.accessToken);
    expect(fake.calls.map((call) => call.path)).toEqual(["/api/auth/sessions"]);
    expect(heardThere).toEqual([`INITIAL_SESSION ${USER.id}`]);
    expect(heard).toEqual([`INITIAL_SESSION ${USER.id}`]);
  });

  test("refreshes where the others hold none that is fresh", async () => {
    const fake = fakeService(() => session());
    await openTab(fake).auth.signInWithPassword(CREDENTIALS);
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 14.5 * 60_000);

    await openTab(fake).auth.getCurrentUser();

    expect(fake.calls.map((call) => call.path)).toContain(REFRESH);
  });

  test("a call for a refresh is a refresh", async () => {
    const fake = fakeService(() => session());
    await openTab(fake).auth.signInWithPassword(CREDENTIALS);

    await openTab(fake).auth.refreshSession();

    expect(fake.calls.at(-1)?.path).toBe(REFRESH);
  });

  test("a late response of another tab does not sign in again", async () => {
    const { passed, open } = gate();
    const fake = fakeService(async ({ path }) => {
      if (path === REFRESH) await passed;
      return session();
    });
    const [here, there] = [openTab(fake), openTab(fake)];
    await here.auth.signInWithPassword(CREDENTIALS);
    await expect.poll(async () => (await there.auth.getCurrentSession()).data?.session).toBeTruthy();
    const heard = eventsOf(here);
    await expect.poll(() => heard).toHaveLength(1);
    const refreshing = there.auth.refreshSession();
    await expect.poll(() => fake.calls.at(-1)?.path).toBe(REFRESH);

    void here.auth.signOut();
    open();
    await refreshing;
    // Messages arrive in order: the response to a later request proves that earlier ones arrived.
    await openTab(fake).auth.getCurrentUser();

    expect(heard.at(-1)).toBe("SIGNED_OUT -");
  });
});

describe("a refresh that hangs in one tab", () => {
  test("stops another for two seconds at most", async () => {
    let refreshes = 0;
    const fake = fakeService(({ path }) => {
      if (path !== REFRESH) return session();
      refreshes += 1;
      return refreshes === 1 ? forever() : session();
    });
    localStorage.setItem("latchkey:http://fake.example:csrf", "csrf");
    vi.useFakeTimers();
    const [hanging, other] = [openTab(fake), openTab(fake)];
    void hanging.auth.refreshSession();
    await vi.advanceTimersByTimeAsync(200);
    expect(refreshes).toBe(1);

    let isThere = false;
    void other.auth.getCurrentUser().then(({ data }) => (isThere = data?.user?.id === USER.id));
    await vi.advanceTimersByTimeAsync(2_000);

    expect(isThere).toBe(true);
  });
});

describe("INITIAL_SESSION", () => {
  test("comes first, to listeners before and after a sign-in", async () => {
    const tab = openTab(fakeService(() => session()));
    const early = eventsOf(tab);
    const signingIn = tab.auth.signInWithPassword(CREDENTIALS);
    const meanwhile = eventsOf(tab);
    await signingIn;
    const late = eventsOf(tab);
    await expect.poll(() => late).toHaveLength(1);
    await tab.auth.signOut();
    await expect.poll(() => late.at(-1)).toBe("SIGNED_OUT -");

    for (const heard of [early, meanwhile, late]) {
      expect(heard[0]).toMatch(/^INITIAL_SESSION/);
      expect(heard.filter((event) => event.startsWith("INITIAL_SESSION"))).toHaveLength(1);
      expect(heard.at(-1)).toBe("SIGNED_OUT -");
    }
  });

  test("comes if the first refresh fails", async () => {
    localStorage.setItem("latchkey:http://fake.example:csrf", "csrf");
    const heard = eventsOf(openTab(fakeService(() => "lost")));

    await expect.poll(() => heard).toEqual(["INITIAL_SESSION - NETWORK_ERROR"]);
  });

  test("comes within three seconds if the refresh hangs, and the session when it is known", async () => {
    const { passed, open } = gate();
    const fake = fakeService(async () => {
      await passed;
      return session();
    });
    localStorage.setItem("latchkey:http://fake.example:csrf", "csrf");
    vi.useFakeTimers();
    const heard = eventsOf(openTab(fake));

    await vi.advanceTimersByTimeAsync(2_900);
    expect(heard).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(heard).toEqual(["INITIAL_SESSION - NETWORK_ERROR"]);
    open();
    await vi.advanceTimersByTimeAsync(0);

    expect(heard.slice(1)).toEqual([`TOKEN_REFRESHED ${USER.id}`]);
  });

  test("does not come to a listener that was removed", async () => {
    const tab = openTab(fakeService(() => session()));
    const heard: string[] = [];
    tab.auth.onAuthStateChange((event) => heard.push(event))();

    await tab.auth.signInWithPassword(CREDENTIALS);

    expect(heard).toEqual([]);
  });
});

describe("another person", () => {
  test("who signs in in another tab causes SIGNED_OUT, then SIGNED_IN", async () => {
    const fake = fakeService(({ body }) => sessionOf(String(body.email)));
    const [here, there] = [openTab(fake), openTab(fake)];
    await here.auth.signInWithPassword({ ...CREDENTIALS, email: "u1" });
    const heard = eventsOf(here);
    await expect.poll(() => heard).toHaveLength(1);

    await there.auth.signInWithPassword({ ...CREDENTIALS, email: "u2" });

    await expect.poll(() => heard).toEqual(["INITIAL_SESSION u1", "SIGNED_OUT -", "SIGNED_IN u2"]);
  });
});

describe("the user object", () => {
  test("stays the same object while nothing changed: in refreshes, calls and messages of other tabs", async () => {
    const copy = (): typeof USER => JSON.parse(JSON.stringify(USER)) as typeof USER;
    const fake = fakeService(() => session({ user: copy() }));
    const [here, there] = [openTab(fake), openTab(fake)];
    await here.auth.signInWithPassword(CREDENTIALS);
    const told: unknown[] = [];
    here.auth.onAuthStateChange((_, held) => told.push(held?.user));
    await expect.poll(() => told).toHaveLength(1);
    const [user] = told;

    const refreshed = await here.auth.refreshSession();
    const asked = await here.auth.getCurrentUser();
    const held = await here.auth.getCurrentSession();
    await expect.poll(async () => (await there.auth.getCurrentSession()).data?.session).toBeTruthy();
    await there.auth.refreshSession();
    await expect.poll(() => told.length).toBeGreaterThan(2);

    expect(refreshed.data?.user).toBe(user);
    expect(asked.data?.user).toBe(user);
    expect(held.data?.session?.user).toBe(user);
    expect(told.every((one) => one === user)).toBe(true);
  });

  test("is another one after a change, and then the same again", async () => {
    let name = "Ada Lovelace";
    const fake = fakeService(() => session({ user: { ...USER, profile: { name, avatar_url: null } } }));
    const tab = openTab(fake);
    await tab.auth.signInWithPassword(CREDENTIALS);
    const heard = eventsOf(tab);
    await expect.poll(() => heard).toHaveLength(1);
    const before = (await tab.auth.getCurrentUser()).data?.user;

    name = "Ada King";
    const after = (await tab.auth.getCurrentUser()).data?.user;

    expect(after).not.toBe(before);
    expect(after?.profile.name).toBe("Ada King");
    expect((await tab.auth.getCurrentUser()).data?.user).toBe(after);
    expect(heard).toEqual([`INITIAL_SESSION ${USER.id}`, `USER_UPDATED ${USER.id}`]);
  });
});

describe("Retry-After", () => {
  const busy = { ...(refusal(429, "TOO_MANY_REQUESTS") as object), headers: { "retry-after": "100" } };

  test("is honoured by timers, calls and a returning network, with jitter per client", async () => {
    vi.useFakeTimers();
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    const fake = fakeService(({ path }) => (path === REFRESH ? busy : session()));
    const tab = openTab(fake);
    await tab.auth.signInWithPassword(CREDENTIALS);
    const refreshes = (): number => fake.calls.filter(({ path }) => path === REFRESH).length;

    await vi.advanceTimersByTimeAsync(14.5 * 60_000);
    expect(refreshes()).toBe(1);
    // The token ends in between.
    await vi.advanceTimersByTimeAsync(60_000);
    window.dispatchEvent(new Event("online"));
    document.dispatchEvent(new Event("visibilitychange"));
    expect((await tab.profiles.me()).error?.retryAfter).toBe(100);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(refreshes()).toBe(1);
    await vi.advanceTimersByTimeAsync(13_000);

    expect(refreshes()).toBe(2);
  });
});
