// @vitest-environment happy-dom
// Two users of one browser, and tabs with blocked cookies: no user acts as, or ends the session of, another one.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AuthEvent, createClient, type LatchkeyClient } from "../src/index.js";
import { accessTokenOf, fakeService, type FakeService, refusal, session, USER } from "./support/fake-service.js";

const baseUrl = "http://fake.example";
const CREDENTIALS = { email: USER.email, password: "correct horse battery" };
const CSRF_KEY = `latchkey:${baseUrl}:csrf`;
const clients: LatchkeyClient[] = [];

function open({ fetch }: FakeService): LatchkeyClient {
  const client = createClient({ baseUrl, fetch });
  clients.push(client);
  return client;
}

/** Promise with its resolve function. */
function gate(): { passed: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

/** Sign-in response for the user with this id. */
const sessionOf = (id: string) =>
  session({ user: { ...USER, id, profile: { name: id, avatar_url: null } }, accessToken: accessTokenOf(id), csrfToken: `csrf-${id}` });

const signIn = (client: LatchkeyClient, email: string) => client.auth.signInWithPassword({ ...CREDENTIALS, email });
const user = async (client: LatchkeyClient) => (await client.auth.getCurrentSession()).data?.session?.user;

beforeEach(() => localStorage.clear());
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

describe("a write of one user", () => {
  test("that is refused is not repeated as another", async () => {
    const { passed, open: letGo } = gate();
    let writes = 0;
    const service = fakeService(async ({ path, body }) => {
      if (path === "/api/auth/sessions") return sessionOf(String(body.email));
      writes += 1;
      await passed;
      return refusal(401, "AUTH_UNAUTHORIZED");
    });
    const [here, there] = [open(service), open(service)];
    await signIn(here, "u1");

    const writing = here.profiles.update({ name: "The name of u1" });
    await expect.poll(() => writes).toBe(1);
    await signIn(there, "u2");
    await expect.poll(async () => (await user(here))?.id).toBe("u2");
    letGo();

    expect((await writing).error?.error).toBe("AUTH_UNAUTHORIZED");
    expect(writes).toBe(1);
  });

  test("that is refused is not repeated through the cookie of another", async () => {
    let writes = 0;
    const service = fakeService(({ path, body }) => {
      if (path === "/api/auth/sessions") return sessionOf(String(body.email));
      if (path === "/api/auth/refresh") return sessionOf("u2");
      writes += 1;
      return refusal(401, "AUTH_UNAUTHORIZED");
    });
    const client = open(service);
    await signIn(client, "u1");

    expect((await client.auth.changePassword({ currentPassword: "a", newPassword: "b" })).error?.error).toBe("AUTH_UNAUTHORIZED");
    expect(writes).toBe(1);
  });

  test.each(["update", "setProfile"] as const)("does not rename the other: %s", async (how) => {
    const { passed, open: letGo } = gate();
    const service = fakeService(async ({ path, body }) => {
      if (path === "/api/auth/sessions") return sessionOf(String(body.email));
      await passed;
      return { body: { id: how === "update" ? "profile" : "u1", auth_id: "u1", name: "New name of u1", avatar_url: null } };
    });
    const client = open(service);
    await signIn(client, "u1");

    const changes = { name: "New name of u1" };
    const writing = how === "update" ? client.profiles.update(changes) : client.auth.setProfile(changes);
    await expect.poll(() => service.calls).toHaveLength(2);
    await signIn(client, "u2");
    letGo();
    await writing;

    expect((await user(client))?.profile.name).toBe("u2");
  });
});

describe("where cookies are blocked and storage is not", () => {
  test("a second tab does not end the session of the first", async () => {
    const service = fakeService(({ path }) => (path === "/api/auth/refresh" ? refusal(401, "AUTH_UNAUTHORIZED") : session()));
    const first = open(service);
    await first.auth.signInWithPassword(CREDENTIALS);
    const heard: AuthEvent[] = [];
    first.auth.onAuthStateChange((event) => heard.push(event));
    await expect.poll(() => heard).toEqual(["INITIAL_SESSION"]);

    const second = open(service);
    expect((await second.auth.refreshSession()).error?.error).toBe("AUTH_UNAUTHORIZED");
    // Messages of the second tab arrive in order.
    const third = open(service);
    third.auth.onAuthStateChange((event) => heard.push(event));
    await signIn(second, USER.email);
    await expect.poll(() => heard.at(-1)).toBe("SIGNED_IN");

    expect(heard).not.toContain("SIGNED_OUT");
  });

  test("a refusal does not remove the CSRF token of a sign-in that came between", async () => {
    const { passed, open: letGo } = gate();
    const service = fakeService(async ({ path, headers }) => {
      if (path !== "/api/auth/refresh") return session();
      if (headers.get("x-csrf-token") === "newer") return session({ csrfToken: "newer" });
      await passed;
      return refusal(401, "AUTH_UNAUTHORIZED");
    });
    localStorage.setItem(CSRF_KEY, "older");
    const client = open(service);

    const asking = client.auth.getCurrentUser();
    await expect.poll(() => service.calls).toHaveLength(1);
    localStorage.setItem(CSRF_KEY, "newer");
    letGo();

    expect((await asking).data?.user).toEqual(USER);
    expect(localStorage.getItem(CSRF_KEY)).toBe("newer");
  });
});
