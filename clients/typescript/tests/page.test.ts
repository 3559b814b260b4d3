// @vitest-environment happy-dom
// Automatic work of a client in a page: the code in the URL, the verifier, the CSRF token, other tabs. The browser is
// simulated; real ones are in tests/browser.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type AuthEvent, createClient, type LatchkeyClient } from "../src/index.js";
import { accessToken, CSRF, fakeService, type FakeService, refusal, session, USER } from "./support/fake-service.js";

const baseUrl = "http://fake.example";
const CREDENTIALS = { email: USER.email, password: "correct horse battery" };
const REFRESH = "/api/auth/refresh";
const clients: LatchkeyClient[] = [];

function open({ fetch }: FakeService): LatchkeyClient {
  const client = createClient({ baseUrl, fetch });
  clients.push(client);
  return client;
}

/** Lets milliseconds pass. */
const pass = (milliseconds: number): unknown => vi.spyOn(Date, "now").mockReturnValue(Date.now() + milliseconds);
const address = (path: string): void => history.replaceState(null, "", path);

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  address("/app");
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  vi.restoreAllMocks();
});

describe("a code in the address", () => {
  const answers = fakeService(({ path }) =>
    path.endsWith("exchange") ? session() : { body: { authUrl: "https://provider.example/authorize" } },
  );

  test("is exchanged with the stored verifier, and removed from the address bar", async () => {
    const assign = vi.spyOn(location, "assign").mockImplementation(() => undefined);
    const left = await open(answers).auth.signInWithOAuth({ provider: "google", redirectTo: `${location.href}` });
    expect(assign).toHaveBeenCalledWith("https://provider.example/authorize");

    address("/app?tab=1&service_code=the-code#part");
    const client = open(answers);

    expect(location.href.endsWith("/app?tab=1#part")).toBe(true);
    expect((await client.auth.getCurrentUser()).data?.user).toEqual(USER);
    const exchange = answers.calls.find((call) => call.path === "/api/auth/oauth/exchange");
    expect(exchange?.body).toEqual({ code: "the-code", code_verifier: left.data?.codeVerifier });
    expect(sessionStorage).toHaveLength(0);
  });

  test("that was not begun here is removed, refused, and reported", async () => {
    address("/app?service_code=somebody-else's");
    const service = fakeService(() => session());
    const client = open(service);

    expect((await client.auth.getCurrentUser()).data).toEqual({ user: null });
    expect(client.auth.getRedirectResult()).toMatchObject({ status: "error", type: "oauth", error: expect.any(String) });
    expect(location.href.endsWith("/app")).toBe(true);
    expect(service.calls.map((call) => call.path)).toEqual([CSRF]);
  });

  test("is exchanged also where the address bar cannot be changed, and calls go on", async () => {
    await open(answers).auth.signInWithOAuth({ provider: "google", skipBrowserRedirect: true });
    address("/app?service_code=the-code");
    vi.spyOn(history, "replaceState").mockImplementation(() => {
      throw new DOMException("The operation is insecure.", "SecurityError");
    });
    const client = open(answers);

    expect((await client.auth.getCurrentUser()).data?.user).toEqual(USER);
    expect((await client.auth.signOut()).error).toBeNull();
  });

  test("with skipBrowserRedirect the page stays", async () => {
    const assign = vi.spyOn(location, "assign").mockImplementation(() => undefined);

    const { data } = await open(answers).auth.signInWithOAuth({ provider: "google", skipBrowserRedirect: true });

    expect(data?.url).toBe("https://provider.example/authorize");
    expect(assign).not.toHaveBeenCalled();
  });

  test("a provider's error is reported only in the tab that began the sign-in", async () => {
    address("/app?error=Access+was+denied");
    expect(open(answers).auth.getRedirectResult()).toBeNull();

    await open(answers).auth.signInWithOAuth({ provider: "google", skipBrowserRedirect: true });

    const told = open(answers).auth.getRedirectResult();
    expect(told).toEqual({ status: "error", type: "oauth", error: "Access was denied" });
    expect(location.href.endsWith("/app")).toBe(true);
  });

  test("a sign-in on the pages that was given up after half an hour is told", async () => {
    await open(answers).auth.signInWithPages({ redirectTo: "http://app.example/app", skipBrowserRedirect: true });
    address("/app?error=access_denied");
    pass(1_800_000);

    expect(open(answers).auth.getRedirectResult()).toEqual({ status: "error", type: "oauth", error: "access_denied" });
  });

  test("an error of the app's own is not a provider's, long after a visit that was given up", async () => {
    await open(answers).auth.signInWithOAuth({ provider: "google", skipBrowserRedirect: true });
    address("/app?error=mine");
    pass(3_600_000);

    expect(open(answers).auth.getRedirectResult()).toBeNull();
    expect(location.href.endsWith("?error=mine")).toBe(true);
  });

  test("a stranger's code in the address does not cost the sign-in that is under way", async () => {
    const service = fakeService(({ path, body }) => {
      if (!path.endsWith("exchange")) return { body: { authUrl: "https://provider.example/authorize" } };
      return body.code === "mine" ? session() : refusal(400, "INVALID_OAUTH_CODE");
    });
    await open(service).auth.signInWithOAuth({ provider: "google", skipBrowserRedirect: true });
    address("/app?service_code=planted");
    expect((await open(service).auth.getCurrentUser()).data?.user).toBeNull();

    address("/app?service_code=mine");

    expect((await open(service).auth.getCurrentUser()).data?.user).toEqual(USER);
  });

  test("is presented again after a lost response", async () => {
    let isLost = true;
    const service = fakeService(({ path }) => {
      if (!path.endsWith("exchange")) return { body: { authUrl: "https://provider.example/authorize" } };
      const answer = isLost ? ("lost" as const) : session();
      isLost = false;
      return answer;
    });
    await open(service).auth.signInWithOAuth({ provider: "google", skipBrowserRedirect: true });
    address("/app?service_code=the-code");

    expect((await open(service).auth.getCurrentUser()).data?.user).toEqual(USER);
  });
});

describe("a token in the address", () => {
  test("leaves the address bar when the client is created; the rest of the address stays", () => {
    address("/app?x=%7E+1&service_status=ready&service_type=reset_password&token=abc&y#part");
    const client = open(fakeService(() => session()));

    expect(location.href.endsWith("/app?x=%7E+1&y#part")).toBe(true);
    expect(client.auth.getRedirectResult()).toMatchObject({ status: "ready", token: "abc" });
  });

  test("of the app itself stays, and so does everything for a client that shall not look", () => {
    address("/app?token=own");
    open(fakeService(() => session()));
    expect(location.href.endsWith("/app?token=own")).toBe(true);

    address("/app?service_status=ready&service_type=reset_password&token=abc");
    clients.push(createClient({ baseUrl, detectRedirect: false }));
    expect(location.href).toContain("token=abc");
  });
});

describe("a window that was opened in the click", () => {
  const opened = () => ({ location: { assign: vi.fn() }, sessionStorage: { setItem: vi.fn() }, close: vi.fn() });
  const started = { body: { authUrl: "https://provider.example/authorize" } };

  test("goes to the provider with the verifier, and this page stays", async () => {
    const assign = vi.spyOn(location, "assign").mockImplementation(() => undefined);
    const popup = opened();

    const { data } = await open(fakeService(() => started)).auth.signInWithOAuth({
      provider: "google",
      window: popup as unknown as Window,
    });

    expect(popup.location.assign).toHaveBeenCalledWith("https://provider.example/authorize");
    const [, kept] = popup.sessionStorage.setItem.mock.calls[0] as [string, string];
    expect(kept.split(" ")[0]).toBe(data?.codeVerifier);
    expect(popup.close).not.toHaveBeenCalled();
    expect(assign).not.toHaveBeenCalled();
  });

  test("is closed where the sign-in cannot begin", async () => {
    const popup = opened();
    const service = fakeService(() => refusal(400, "REDIRECT_NOT_ALLOWED"));

    await open(service).auth.signInWithOAuth({ provider: "google", window: popup as unknown as Window });

    expect(popup.close).toHaveBeenCalledOnce();
  });

  test("that the browser blocked leaves the way to this page", async () => {
    const assign = vi.spyOn(location, "assign").mockImplementation(() => undefined);

    await open(fakeService(() => started)).auth.signInWithOAuth({ provider: "google", window: null });

    expect(assign).toHaveBeenCalledWith("https://provider.example/authorize");
  });
});

test("operations need no this", async () => {
  const client = open(fakeService(() => session()));
  const { signInWithPassword, getCurrentUser, signOut } = client.auth;
  const button = { onClick: signOut };

  expect((await signInWithPassword(CREDENTIALS)).error).toBeNull();
  expect((await getCurrentUser()).data?.user).toEqual(USER);
  // A click handler passes its event as the first argument.
  await (button.onClick as unknown as (event: Event) => Promise<unknown>)(new Event("click"));
  expect((await getCurrentUser()).data?.user).toBeNull();
});

test("hydrate takes over the session of the server without a request, and not after the client knows better", async () => {
  const service = fakeService(() => session());
  const client = open(service);
  const given = { accessToken: accessToken(), user: USER };

  client.hydrate(given);
  expect((await client.auth.getCurrentSession()).data?.session?.user).toEqual(USER);
  expect(service.calls).toHaveLength(0);

  await client.auth.signOut();
  client.hydrate(given);
  expect((await client.auth.getCurrentSession()).data?.session).toBeNull();
});

describe("getRedirectResult", () => {
  test("removes the token from the address bar, and returns the same result again", () => {
    address("/app?service_status=ready&service_type=reset_password&token=abc&x=1");
    const client = open(fakeService(() => session()));

    const first = client.auth.getRedirectResult();

    expect(first).toEqual({ status: "ready", type: "reset_password", token: "abc" });
    expect(location.href.endsWith("/app?x=1")).toBe(true);
    expect(client.auth.getRedirectResult()).toEqual(first);
  });

  test("is cleared after the password was set", async () => {
    address("/app?service_status=ready&service_type=reset_password&token=abc");
    const client = open(fakeService(() => session()));
    client.auth.getRedirectResult();

    await client.auth.resetPassword({ newPassword: "staple of the battery", otp: "abc" });

    expect(client.auth.getRedirectResult()).toBeNull();
  });

  test("is null without one", () => {
    expect(open(fakeService(() => session())).auth.getRedirectResult()).toBeNull();
  });
});

describe("a reload", () => {
  test("refreshes by the cookie before it returns the user", async () => {
    const service = fakeService(() => session());
    const before = open(service);
    await before.auth.signInWithPassword(CREDENTIALS);
    before.close();

    const reloaded = open(service);
    const { data } = await reloaded.auth.getCurrentUser();

    expect(data?.user).toEqual(USER);
    expect(service.calls.map((call) => call.path)).toEqual(["/api/auth/sessions", REFRESH]);
    expect(service.calls[1]?.headers.get("x-csrf-token")).toBe("csrf");
  });

  test("without a network reports an unknown session, and the session when online", async () => {
    let isLost = false;
    const service = fakeService(() => (isLost ? "lost" : session()));
    const before = open(service);
    await before.auth.signInWithPassword(CREDENTIALS);
    before.close();

    isLost = true;
    const reloaded = open(service);
    const heard: string[] = [];
    reloaded.auth.onAuthStateChange((event, held, error) => heard.push(`${event} ${held?.user.email} ${error?.error}`));
    expect((await reloaded.auth.getCurrentUser()).error?.error).toBe("NETWORK_ERROR");
    isLost = false;
    window.dispatchEvent(new Event("online"));

    const expected = ["INITIAL_SESSION undefined NETWORK_ERROR", `TOKEN_REFRESHED ${USER.email} undefined`];
    await expect.poll(() => heard).toEqual(expected);
  });

  test("no token is written down", async () => {
    const service = fakeService(() => session());
    const { data } = await open(service).auth.signInWithPassword(CREDENTIALS);

    const written = JSON.stringify({ ...localStorage, ...sessionStorage });

    expect(written).toContain("csrf");
    expect(written).not.toContain(data?.accessToken);
  });

  test("with a CSRF token that a sign-in elsewhere made old tries the new one", async () => {
    const service = fakeService(({ path, headers }) => {
      if (path !== REFRESH) return session();
      if (headers.get("x-csrf-token") === "new") return session({ csrfToken: "new" });
      localStorage.setItem(`latchkey:${baseUrl}:csrf`, "new");
      return refusal(403, "INVALID_CSRF_TOKEN");
    });
    await open(service).auth.signInWithPassword(CREDENTIALS);

    expect((await open(service).auth.getCurrentUser()).data?.user).toEqual(USER);
  });
});

describe("other tabs", () => {
  test("hear of sign-in and sign-out", async () => {
    const service = fakeService(() => session());
    const [here, there] = [open(service), open(service)];
    const heard: [AuthEvent, string | undefined][] = [];
    there.auth.onAuthStateChange((event, held) => heard.push([event, held?.user.email]));
    await expect.poll(() => heard).toHaveLength(1);

    await here.auth.signInWithPassword(CREDENTIALS);
    await expect.poll(() => heard).toHaveLength(2);
    expect((await there.auth.getCurrentSession()).data?.session?.user).toEqual(USER);
    await here.auth.signOut();
    await expect.poll(() => heard).toHaveLength(3);

    expect(heard).toEqual([
      ["INITIAL_SESSION", undefined],
      ["SIGNED_IN", USER.email],
      ["SIGNED_OUT", undefined],
    ]);
    const paths = service.calls.map((call) => call.path);
    expect(paths.filter((path) => path !== CSRF)).toEqual(["/api/auth/sessions", "/api/auth/logout"]);
  });
});

describe("what the app does wrong", () => {
  test("a callback that throws fails no call, and is reported", async () => {
    const reported: unknown[] = [];
    const realTimeout = setTimeout;
    vi.stubGlobal("setTimeout", ((task: () => void, pause?: number) => {
      if (pause !== undefined) return realTimeout(task, pause);
      try {
        task();
      } catch (error) {
        reported.push(error);
      }
      return 0;
    }) as typeof setTimeout);
    const client = open(fakeService(() => session()));
    const mistake = new Error("a mistake of the app");
    client.auth.onAuthStateChange((event) => {
      if (event === "SIGNED_IN") throw mistake;
    });
    await client.auth.getCurrentUser();

    const { error } = await client.auth.signInWithPassword(CREDENTIALS);
    vi.unstubAllGlobals();

    expect(error).toBeNull();
    expect(reported).toEqual([mistake]);
  });

  test("a callback that throws at INITIAL_SESSION is reported once, and stops nothing", async () => {
    const realTimeout = setTimeout;
    let reports = 0;
    vi.stubGlobal("setTimeout", (task: () => void, pause?: number) => (pause === undefined ? ++reports : realTimeout(task, pause)));
    const client = open(fakeService(() => session()));
    client.auth.onAuthStateChange(() => {
      throw new Error("a mistake of the app");
    });
    await client.auth.getCurrentUser();
    await Promise.resolve();
    vi.unstubAllGlobals();

    expect(reports).toBe(1);
  });

  test("a closed client still serves calls", async () => {
    const client = open(fakeService(() => session()));
    client.close();

    expect((await client.auth.signInWithPassword(CREDENTIALS)).error).toBeNull();
    expect((await client.auth.signOut()).error).toBeNull();
  });
});

describe("a browser that keeps no data", () => {
  test("signs in for the life of the page, and reports why it cannot redirect to a provider", async () => {
    vi.stubGlobal("localStorage", undefined);
    vi.stubGlobal("sessionStorage", undefined);
    const client = open(fakeService(() => session()));

    expect((await client.auth.signInWithPassword(CREDENTIALS)).error).toBeNull();
    expect((await client.auth.getCurrentSession()).data?.session?.user).toEqual(USER);
    const { error } = await client.auth.signInWithOAuth({ provider: "google" });

    expect(error).toMatchObject({ statusCode: 0, error: "STORAGE_BLOCKED", nextActions: expect.any(String) });
    vi.unstubAllGlobals();
  });
});
