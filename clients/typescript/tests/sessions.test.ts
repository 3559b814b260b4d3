// signInWithPassword, signOut, getCurrentUser, getCurrentSession, refreshSession, and the list of sessions.
import { describe, expect, inject, test } from "vitest";
import { createClient } from "../src/index.js";
import { newBrowser } from "./support/browser.js";
import { must, newUser, PASSWORD, serverClient } from "./support/people.js";

describe("signInWithPassword", () => {
  test("signInWithPassword opens a session", async () => {
    const { email } = await newUser(serverClient(inject("open")));
    const client = serverClient(inject("open"));

    const { data, error } = await client.auth.signInWithPassword({ email, password: PASSWORD });

    expect(error).toBeNull();
    expect(data).toMatchObject({
      user: { email, providers: ["email"] },
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
    });
  });

  test("signInWithPassword with a wrong password is INVALID_CREDENTIALS", async () => {
    const client = serverClient(inject("open"));
    const { email } = await newUser(client);

    const { data, error } = await client.auth.signInWithPassword({ email, password: "not the password" });

    expect(data).toBeNull();
    expect(error).toMatchObject({ statusCode: 401, error: "INVALID_CREDENTIALS", nextActions: expect.any(String) });
  });
});

describe("signOut", () => {
  test.each(["server", "web"] as const)("signOut of a %s client ends the session at the service", async (clientType) => {
    const client = createClient({ baseUrl: inject("open"), clientType, fetch: newBrowser().fetch });
    const { accessToken } = await newUser(client);

    const signedOut = await client.auth.signOut();

    expect(signedOut).toEqual({ error: null });
    expect(must(await client.auth.getCurrentUser()).user).toBeNull();
    const bystander = serverClient(inject("open"), { accessToken });
    expect((await bystander.profiles.me()).error?.error).toBe("AUTH_UNAUTHORIZED");
  });

  test("signOut without a session is no error", async () => {
    expect(await serverClient(inject("open")).auth.signOut()).toEqual({ error: null });
  });

  test("signOut takes a refresh token in hand", async () => {
    const { accessToken, refreshToken = "" } = await newUser(serverClient(inject("open")));

    expect(await serverClient(inject("open")).auth.signOut({ refreshToken })).toEqual({ error: null });

    const bystander = serverClient(inject("open"), { accessToken });
    expect((await bystander.auth.getCurrentUser()).error?.error).toBe("AUTH_UNAUTHORIZED");
  });
});

describe("getCurrentUser", () => {
  test("getCurrentUser is null without a session", async () => {
    expect(await serverClient(inject("open")).auth.getCurrentUser()).toEqual({ data: { user: null }, error: null });
  });

  test("getCurrentUser knows the user of a token in hand", async () => {
    const { accessToken, user } = await newUser(serverClient(inject("open")));

    const { data } = await serverClient(inject("open"), { accessToken }).auth.getCurrentUser();

    expect(data?.user).toEqual(user);
  });

  test("getCurrentUser returns changes from another device", async () => {
    const client = serverClient(inject("open"));
    const { accessToken } = await newUser(client);
    must(await serverClient(inject("open"), { accessToken }).auth.setProfile({ name: "Ada King" }));

    expect(must(await client.auth.getCurrentUser()).user?.profile.name).toBe("Ada King");
  });
});

describe("getCurrentSession", () => {
  test("getCurrentSession is null without a session", async () => {
    const result = await serverClient(inject("open")).auth.getCurrentSession();
    expect(result).toEqual({ data: { session: null }, error: null });
  });

  test("getCurrentSession has token, user and end", async () => {
    const client = serverClient(inject("open"));
    const { accessToken, user } = await newUser(client);

    const { session } = must(await client.auth.getCurrentSession());

    expect(session).toEqual({ accessToken, user, expiresAt: expect.any(Date) });
    const minutes = ((session?.expiresAt?.getTime() ?? 0) - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(13);
    expect(minutes).toBeLessThan(16);
  });

  test("getCurrentSession fetches the user of a token in hand", async () => {
    const { accessToken, user } = await newUser(serverClient(inject("open")));

    const { session } = must(await serverClient(inject("open"), { accessToken }).auth.getCurrentSession());

    expect(session?.user).toEqual(user);
  });
});

describe("refreshSession", () => {
  test("refreshSession in server mode takes the refresh token in hand", async () => {
    const { refreshToken = "", user } = await newUser(serverClient(inject("open")));
    const client = serverClient(inject("open"));

    const { data, error } = await client.auth.refreshSession({ refreshToken });

    expect(error).toBeNull();
    expect(data).toEqual({
      user,
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      expiresAt: expect.any(Date),
    });
    expect(data?.refreshToken).not.toBe(refreshToken);
    expect(must(await client.auth.getCurrentUser()).user).toEqual(user);
  });

  test("refreshSession of a web client uses cookie and CSRF token", async () => {
    const client = createClient({ baseUrl: inject("open"), fetch: newBrowser().fetch });
    const { csrfToken } = await newUser(client);

    const { data, error } = await client.auth.refreshSession();

    expect(error).toBeNull();
    expect(data).toMatchObject({ accessToken: expect.any(String), csrfToken, expiresAt: expect.any(Date) });
    expect(data).not.toHaveProperty("refreshToken");
  });

  test("refreshSession with a token that is none is AUTH_UNAUTHORIZED", async () => {
    const { error } = await serverClient(inject("open")).auth.refreshSession({ refreshToken: "nothing" });

    expect(error).toMatchObject({ statusCode: 401, error: "AUTH_UNAUTHORIZED" });
  });
});

describe("own sessions", () => {
  test("listSessions, endSession and endOtherSessions show and end sessions", async () => {
    const here = serverClient(inject("open"));
    const { email } = await newUser(here);
    const [second, third] = [serverClient(inject("open")), serverClient(inject("open"))];
    for (const client of [second, third]) must(await client.auth.signInWithPassword({ email, password: PASSWORD }));

    const { sessions } = must(await here.auth.listSessions());
    expect(sessions.map((session) => session.current).sort()).toEqual([false, false, true]);
    const id = must(await second.auth.listSessions()).sessions.find((session) => session.current)?.id ?? "";
    expect(must(await here.auth.endSession(id))).toMatchObject({ success: true, endedCount: 1 });
    expect(must(await here.auth.endOtherSessions())).toMatchObject({ success: true, endedCount: 1 });

    expect((await third.auth.listSessions()).error?.error).toBe("AUTH_UNAUTHORIZED");
    expect(must(await here.auth.listSessions()).sessions).toHaveLength(1);
  });
});

describe("getPublicConfig", () => {
  test("getPublicConfig returns the settings for forms", async () => {
    expect(must(await serverClient(inject("link")).auth.getPublicConfig())).toMatchObject({
      requireEmailVerification: true,
      verifyEmailMethod: "link",
      resetPasswordMethod: "link",
      passwordMinLength: 8,
      oAuthProviders: expect.any(Array),
      customOAuthProviders: expect.any(Array),
    });
  });
});
