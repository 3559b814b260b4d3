// signInWithOtp and verifyOtp.
import { describe, expect, inject, test } from "vitest";
import { createClient, readRedirectResult } from "../src/index.js";
import { createServerClient, headerCookies } from "../src/ssr.js";
import { createFakeClient } from "../src/testing.js";
import { newBrowser } from "./support/browser.js";
import { codeIn, linkIn, mailTo, must, newEmail, opened, serverClient } from "./support/people.js";

test("signInWithOtp and verifyOtp make an account at a new address, and sign in to it", async () => {
  const baseUrl = inject("code");
  const email = newEmail();
  const server = serverClient(baseUrl);

  const sent = must(await server.auth.signInWithOtp({ email }));
  const wrong = await server.auth.verifyOtp({ email, otp: "000000" });
  const otp = codeIn(await mailTo(baseUrl, email));
  const { user } = must(await server.auth.verifyOtp({ email, otp, name: "Ada Lovelace" }));

  expect(sent).toMatchObject({ success: true });
  expect(wrong.error).toMatchObject({ statusCode: 400, error: "INVALID_CODE" });
  expect(user).toMatchObject({ email, emailVerified: true, providers: [], profile: { name: "Ada Lovelace" } });
  expect(must(await server.auth.getCurrentUser()).user?.email).toBe(email);
});

test("verifyOtp opens the session of a page", async () => {
  const baseUrl = inject("code");
  const email = newEmail();
  const page = createClient({ baseUrl, fetch: newBrowser().fetch });
  must(await page.auth.signInWithOtp({ email }));

  const data = must(await page.auth.verifyOtp({ email, otp: codeIn(await mailTo(baseUrl, email)) }));

  expect(data.csrfToken).toMatch(/^[\w-]+$/);
  expect(must(await page.auth.getCurrentUser()).user?.email).toBe(email);
});

describe("a sign-in link", () => {
  const redirectTo = "http://localhost:5173/welcome";

  const mobileApp = () => createClient({ baseUrl: inject("link"), clientType: "mobile", autoRefresh: false });

  test("signs in the app that asked, and no other", async () => {
    const email = newEmail();
    const [app, other] = [mobileApp(), mobileApp()];
    must(await app.auth.signInWithOtp({ email, redirectTo }));
    const mail = await mailTo(inject("link"), email);
    const { token = "" } = readRedirectResult(await opened(linkIn(mail))) ?? {};
    must(await other.auth.signInWithOtp({ email: newEmail(), redirectTo }));

    expect((await other.auth.verifyOtp({ token })).error).toMatchObject({ statusCode: 400, error: "INVALID_CODE" });
    const { user } = must(await app.auth.verifyOtp({ token, name: "Ada Lovelace" }));

    expect(user).toMatchObject({ email, emailVerified: true, profile: { name: "Ada Lovelace" } });
    expect((await app.auth.verifyOtp({ email, otp: codeIn(mail) })).error?.error).toBe("INVALID_CODE");
  });

  test("signs in a server-rendered app, which keeps the verifier in a cookie", async () => {
    const email = newEmail();
    const jar = new Map<string, string>();
    const request = () =>
      createServerClient({
        baseUrl: inject("link"),
        cookies: headerCookies([...jar].map((pair) => pair.join("=")).join("; "), (cookie) => {
          const [name = "", value = ""] = (cookie.split(";")[0] ?? "").split("=");
          if (value) jar.set(name, value);
          else jar.delete(name);
        }),
      });
    must(await request().auth.signInWithOtp({ email, redirectTo }));
    expect([...jar.keys()]).toEqual(["__Host-latchkey-link"]);
    const { token = "" } = readRedirectResult(await opened(linkIn(await mailTo(inject("link"), email)))) ?? {};

    must(await request().auth.verifyOtp({ token }));

    expect(must(await request().auth.getCurrentUser()).user?.email).toBe(email);
    expect([...jar.keys()].sort()).toEqual(["__Host-latchkey-access", "__Host-latchkey-refresh"]);
  });

  test("is not in the mail of a client of one request, which could not keep the verifier", async () => {
    const email = newEmail();
    must(await serverClient(inject("link")).auth.signInWithOtp({ email, redirectTo }));

    const mail = await mailTo(inject("link"), email);

    expect(codeIn(mail)).toMatch(/^\d{6}$/);
    expect(linkIn(mail)).toBe("");
  });
});

test("the fake signs in by mailed code", async () => {
  const client = createFakeClient();
  must(await client.auth.signInWithOtp({ email: "ada@example.org" }));

  const { data } = await client.auth.verifyOtp({ email: "ada@example.org", otp: client.fake.codeFor("ada@example.org") as string });

  expect(data).toMatchObject({ user: { email: "ada@example.org" } });
});
