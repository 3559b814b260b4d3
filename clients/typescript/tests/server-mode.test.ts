// Clients that hold tokens: in server mode, and in mobile or desktop apps.
import { afterEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../src/index.js";
import { accessTokenOf, fakeService, session, USER } from "./support/fake-service.js";

const baseUrl = "http://fake.example";
const CREDENTIALS = { email: USER.email, password: "correct horse battery" };

afterEach(() => void vi.useRealTimers());

/** Service that identifies a user by the first letter of the refresh token. */
const service = () =>
  fakeService(async ({ path, body }) => {
    const who = String(body.refreshToken ?? "A")[0] ?? "";
    if (path === "/api/auth/logout") return { body: { success: true, message: "" } };
    // The second response comes after the first.
    if (who === "B") await new Promise((resolve) => setTimeout(resolve, 20));
    return session({ user: { ...USER, id: who }, accessToken: accessTokenOf(who), refreshToken: `${who}2` });
  });

describe("refreshSession with a token in hand", () => {
  test("returns each of two users their own session", async () => {
    const { fetch } = service();
    const { auth } = createClient({ baseUrl, fetch, isServerMode: true });

    const [a, b] = await Promise.all([auth.refreshSession({ refreshToken: "A1" }), auth.refreshSession({ refreshToken: "B1" })]);

    expect(a.data).toMatchObject({ user: { id: "A" }, refreshToken: "A2" });
    expect(b.data).toMatchObject({ user: { id: "B" }, refreshToken: "B2" });
  });
});

describe("signOut with a token in hand", () => {
  test("does not touch the session of another user that the client holds", async () => {
    const { fetch, calls } = service();
    const { auth } = createClient({ baseUrl, fetch, isServerMode: true });
    await auth.signInWithPassword(CREDENTIALS);

    await auth.signOut({ refreshToken: "B1" });

    expect(calls.at(-1)).toMatchObject({ path: "/api/auth/logout", body: { refreshToken: "B1" } });
    expect(calls.at(-1)?.headers.get("authorization")).toBeNull();
    expect((await auth.getCurrentSession()).data?.session?.user.id).toBe("A");
  });
});

describe("an app that keeps its refresh token", () => {
  test.each(["mobile", "desktop"] as const)("gets every new refresh token: %s", async (clientType) => {
    vi.useFakeTimers();
    let number = 0;
    const { fetch } = fakeService(() => session({ csrfToken: undefined, refreshToken: `token-${number++}` }));
    const client = createClient({ baseUrl, fetch, clientType });
    const kept: (string | undefined)[] = [];
    client.auth.onAuthStateChange((_, held) => kept.push(held?.refreshToken));
    await vi.advanceTimersByTimeAsync(0);
    await client.auth.signInWithPassword(CREDENTIALS);

    await vi.advanceTimersByTimeAsync(15 * 60_000);

    expect(kept).toEqual([undefined, "token-0", "token-1"]);
    expect((await client.auth.getCurrentSession()).data?.session?.refreshToken).toBe("token-1");
    client.close();
  });

  test("with tokens of its last run gets the user", async () => {
    const { fetch } = fakeService(() => ({ body: { user: USER, expiresAt: "2026-03-01T12:00:00.000Z" } }));
    const options = { accessToken: accessTokenOf(USER.id), refreshToken: "kept" };
    const client = createClient({ baseUrl, fetch, clientType: "desktop", ...options });
    const heard: (string | undefined)[] = [];

    client.auth.onAuthStateChange((event, held) => heard.push(`${event} ${held?.user.email}`));

    await expect.poll(() => heard).toEqual([`INITIAL_SESSION ${USER.email}`]);
    client.close();
  });
});
