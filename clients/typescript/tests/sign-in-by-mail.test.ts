// signInWithOtp and verifyOtp.
import { expect, inject, test } from "vitest";
import { createClient } from "../src/index.js";
import { createFakeClient } from "../src/testing.js";
import { newBrowser } from "./support/browser.js";
import { codeIn, mailTo, must, newEmail, serverClient } from "./support/people.js";

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

test("the fake signs in by mailed code", async () => {
  const client = createFakeClient();
  must(await client.auth.signInWithOtp({ email: "ada@example.org" }));

  const { data } = await client.auth.verifyOtp({ email: "ada@example.org", otp: client.fake.codeFor("ada@example.org") as string });

  expect(data).toMatchObject({ user: { email: "ada@example.org" } });
});
