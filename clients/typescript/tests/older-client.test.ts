// The older client of this API, npm package `@insforge/sdk`, unmodified, with the real binary: in a page, where it stores
// the CSRF token in a cookie, and on a server.
import { createClient } from "@insforge/sdk";
import { afterEach, beforeEach, describe, expect, inject, test, vi } from "vitest";
import { newBrowser } from "./support/browser.js";
import { codeIn, mailTo, must, newEmail, PASSWORD } from "./support/people.js";

const NEW_PASSWORD = "staple of the battery";
const kinds = [["page"], ["server"]] as const;

/** A client in a page with a cookie jar, or on a server. */
const open = (kind: "page" | "server", accessToken?: string) =>
  createClient({
    baseUrl: inject("code"),
    isServerMode: kind === "server",
    ...(accessToken && { accessToken }),
    ...(kind === "page" && { fetch: newBrowser().fetch }),
  });
type Client = ReturnType<typeof open>;

/** User who signed up and typed the mailed code. */
async function verified({ auth }: Client) {
  const email = newEmail();
  const signedUp = must(await auth.signUp({ email, password: PASSWORD, name: "Ada Lovelace" }));
  expect(signedUp).toMatchObject({ accessToken: null, requireEmailVerification: true });
  const otp = codeIn(await mailTo(inject("code"), email));
  return { email, session: must(await auth.verifyEmail({ email, otp })) };
}

/** Minimal document for the client: a script-readable cookie. */
function documentWithCookie(): { cookie: string } {
  let kept = "";
  return {
    get cookie() {
      return kept;
    },
    set cookie(text) {
      kept = /max-age=0/.test(text) ? "" : (text.split(";")[0] ?? "");
    },
  };
}

describe.each(kinds)("the older client (%s)", (kind) => {
  beforeEach(() => {
    if (kind === "page") vi.stubGlobal("document", documentWithCookie());
  });
  afterEach(() => vi.unstubAllGlobals());

  test("signs up, verifies by code, and knows its user", async () => {
    const client = open(kind);

    const { email, session } = await verified(client);

    expect(session).toMatchObject({ user: { email, emailVerified: true }, accessToken: expect.any(String) });
    // On a server it holds no session: the token is passed.
    const known = kind === "server" ? open(kind, session.accessToken) : client;
    expect(must(await known.auth.getCurrentUser()).user).toMatchObject({ email, profile: { name: "Ada Lovelace" } });
    const { data: profile } = await known.auth.setProfile({ name: "Ada King" });
    expect(profile?.profile).toMatchObject({ name: "Ada King" });
  });

  test("signs in by a mailed code, to a new account and to it again", async () => {
    const email = newEmail();
    for (const nth of [1, 2]) {
      const client = open(kind);
      must(await client.auth.signInWithOtp({ email }));
      const otp = codeIn(await mailTo(inject("code"), email, nth));

      const session = must(await client.auth.verifyOtp({ email, otp, name: "Ada Lovelace" }));

      expect(session).toMatchObject({ user: { email, emailVerified: true }, accessToken: expect.any(String) });
    }
  });

  test("refreshes", async () => {
    const client = open(kind);
    const { session, email } = await verified(client);

    const { refreshToken } = session;
    const given = refreshToken ? { refreshToken } : undefined;
    const refreshed = must(await client.auth.refreshSession(given));

    expect(refreshed).toMatchObject({ user: { email }, accessToken: expect.any(String) });
    expect(refreshed.accessToken).not.toBe(session.accessToken);
  });

  test("resets the password by code, and signs in with the new one", async () => {
    const client = open(kind);
    const { email } = await verified(client);

    must(await client.auth.sendResetPasswordEmail({ email }));
    const code = codeIn(await mailTo(inject("code"), email, 2));
    const { token } = must(await client.auth.exchangeResetPasswordToken({ email, code }));
    must(await client.auth.resetPassword({ newPassword: NEW_PASSWORD, otp: token }));

    expect((await client.auth.signInWithPassword({ email, password: PASSWORD })).error?.statusCode).toBe(401);
    expect(must(await client.auth.signInWithPassword({ email, password: NEW_PASSWORD })).user.email).toBe(email);
  });

  test("signs out, and the session is over at the service", async () => {
    const client = open(kind);
    const { session } = await verified(client);

    expect((await client.auth.signOut()).error).toBeNull();

    const headers = { authorization: `Bearer ${session.accessToken}` };
    expect((await fetch(`${inject("code")}/api/auth/sessions/current`, { headers })).status).toBe(401);
  });
});
