// @vitest-environment happy-dom
// Two apps of one site share a cookie but not storage: the CSRF token comes from the service.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CSRF, fakeService, refusal } from "./support/fake-service.js";
import { closeTabs, CREDENTIALS, CSRF_KEY, eventsOf, openTab, sessionOf } from "./support/tab.js";

const REFRESH = "/api/auth/refresh";
const tokenOf = (csrfToken: string) => () => ({ body: { csrfToken } });

beforeEach(() => localStorage.clear());
afterEach(() => {
  closeTabs();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("an app without a CSRF token", () => {
  test("finds the session of another app of the site", async () => {
    const service = fakeService(() => sessionOf("u1"), tokenOf("csrf-u1"));
    const tab = openTab(service);
    const heard = eventsOf(tab);

    expect((await tab.auth.getCurrentUser()).data?.user?.id).toBe("u1");

    expect(service.calls.map((call) => `${call.method} ${call.path}`)).toEqual([`GET ${CSRF}`, `POST ${REFRESH}`]);
    expect(service.calls[1]?.headers.get("x-csrf-token")).toBe("csrf-u1");
    expect(localStorage.getItem(CSRF_KEY)).toBe("csrf-u1");
    expect(heard).toEqual(["INITIAL_SESSION u1"]);
  });

  test("requests once for concurrent calls", async () => {
    const service = fakeService(() => refusal(401, "AUTH_UNAUTHORIZED"));
    const tab = openTab(service);
    const heard = eventsOf(tab);

    await Promise.all(Array.from({ length: 5 }, () => tab.auth.getCurrentUser()));
    await tab.auth.getCurrentSession();
    expect((await tab.auth.refreshSession()).error?.error).toBe("AUTH_UNAUTHORIZED");
    await tab.profiles.me();

    expect(service.calls.filter(({ path }) => path === CSRF)).toHaveLength(1);
    expect(service.calls.filter(({ path }) => path === REFRESH)).toHaveLength(0);
    expect(heard).toEqual(["INITIAL_SESSION -"]);
  });

  test("a public call requests no session", async () => {
    const service = fakeService(() => ({ body: [] }));

    await openTab(service).profiles.search("Ada");

    expect(service.calls.map((call) => call.path)).toEqual(["/api/profiles/search"]);
  });

  test("a visitor who walks from page to page is asked for once in a while", async () => {
    const service = fakeService(() => refusal(401, "AUTH_UNAUTHORIZED"));
    await openTab(service).auth.getCurrentUser();
    vi.spyOn(document, "referrer", "get").mockReturnValue(`${location.origin}/landing`);

    await openTab(service).auth.getCurrentUser();
    expect(service.calls).toHaveLength(1);
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 3_600_000);
    await openTab(service).auth.getCurrentUser();
    expect(service.calls).toHaveLength(2);
  });

  test("a visitor from another app of the site has the session requested at once", async () => {
    const service = fakeService(() => refusal(401, "AUTH_UNAUTHORIZED"));
    await openTab(service).auth.getCurrentUser();
    vi.spyOn(document, "referrer", "get").mockReturnValue("https://accounts.example.com/");

    await openTab(service).auth.getCurrentUser();

    expect(service.calls).toHaveLength(2);
  });

  test.each([
    ["a service that has no such call", refusal(404, "NOT_FOUND")],
    ["a site that the service does not know", refusal(403, "FORBIDDEN")],
  ])("%s means no session", async (_, answer) => {
    const tab = openTab(fakeService(() => sessionOf("u1"), () => answer));

    expect(await tab.auth.getCurrentUser()).toEqual({ data: { user: null }, error: null });
  });

  test("without a network nothing is known, and it is asked again", async () => {
    let isLost = true;
    const service = fakeService(
      () => sessionOf("u1"),
      () => (isLost ? "lost" : tokenOf("csrf-u1")()),
    );
    const tab = openTab(service);
    const heard = eventsOf(tab);
    expect((await tab.auth.getCurrentUser()).error?.error).toBe("NETWORK_ERROR");

    isLost = false;
    window.dispatchEvent(new Event("online"));

    await expect.poll(() => heard).toEqual(["INITIAL_SESSION - NETWORK_ERROR", "SIGNED_IN u1"]);
  });
});

describe("a CSRF token that the cookie does not match", () => {
  /** Service whose cookie belongs to `owner`. */
  const cookieOf = (owner: string) =>
    fakeService(({ path, headers, body }) => {
      if (path === "/api/auth/sessions") return sessionOf(String(body.email));
      const isRight = headers.get("x-csrf-token") === `csrf-${owner}`;
      return isRight ? sessionOf(owner) : refusal(403, "INVALID_CSRF_TOKEN");
    }, tokenOf(`csrf-${owner}`));

  test("is replaced, and the session continues", async () => {
    localStorage.setItem(CSRF_KEY, "csrf-of-an-older-session");
    const service = cookieOf("u1");

    expect((await openTab(service).auth.getCurrentUser()).data?.user?.id).toBe("u1");

    expect(service.calls.map((call) => call.path)).toEqual([REFRESH, CSRF, REFRESH]);
    expect(localStorage.getItem(CSRF_KEY)).toBe("csrf-u1");
  });

  test("another user's cookie emits SIGNED_OUT, then SIGNED_IN", async () => {
    const tab = openTab(cookieOf("u2"));
    await tab.auth.signInWithPassword({ ...CREDENTIALS, email: "u1" });
    const heard = eventsOf(tab);
    await expect.poll(() => heard).toEqual(["INITIAL_SESSION u1"]);

    await tab.auth.refreshSession();

    expect(heard).toEqual(["INITIAL_SESSION u1", "SIGNED_OUT -", "SIGNED_IN u2"]);
  });

  test("another user's cookie emits events in every tab", async () => {
    const service = cookieOf("u2");
    const [here, there] = [openTab(service), openTab(service)];
    await here.auth.signInWithPassword({ ...CREDENTIALS, email: "u1" });
    const heard = eventsOf(there);
    await expect.poll(() => heard).toEqual(["INITIAL_SESSION u1"]);

    await here.auth.refreshSession();

    await expect.poll(() => heard).toEqual(["INITIAL_SESSION u1", "SIGNED_OUT -", "SIGNED_IN u2"]);
  });

  test("that the service gives again ends the session, after one question", async () => {
    const service = fakeService(
      ({ path }) => (path === REFRESH ? refusal(403, "INVALID_CSRF_TOKEN") : sessionOf("u1")),
      tokenOf("csrf-u1"),
    );
    const tab = openTab(service);
    await tab.auth.signInWithPassword(CREDENTIALS);
    const heard = eventsOf(tab);
    await expect.poll(() => heard).toHaveLength(1);

    expect((await tab.auth.refreshSession()).error?.error).toBe("INVALID_CSRF_TOKEN");

    expect(heard).toEqual(["INITIAL_SESSION u1", "SIGNED_OUT -"]);
    expect(service.calls.filter(({ path }) => path === CSRF)).toHaveLength(1);
  });
});
