// The older client of this wire interface, npm package `@insforge/sdk`, unmodified: sign-in by a certified provider.
import type { ChildProcess } from "node:child_process";
import { createClient } from "@insforge/sdk";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../support/app.js";
import { must } from "../support/people.js";
import { decide, sayWho, startProvider } from "../support/provider.js";
import { type Service, startService } from "../support/service.js";

let browser: Browser;
let service: Service;
let provider: ChildProcess;
beforeAll(async () => {
  // Redirect parameter prefix of this client.
  service = await startService({ "auth.redirect_param_prefix": "insforge" });
  [browser, provider] = await Promise.all([openBrowser(), startProvider(service.url)]);
});
afterAll(async () => {
  provider.kill();
  await Promise.all([browser.close(), service.stop()]);
});

test("the older client signs in by a provider, and refreshes", async () => {
  const { auth } = createClient({ baseUrl: service.url, isServerMode: true });
  const page = await browser.newPage();
  const redirectTo = "http://localhost:5199/back";

  const begun = await auth.signInWithOAuth({ provider: "acme", redirectTo, skipBrowserRedirect: true });
  expect(begun.error).toBeNull();
  const { url = "", codeVerifier } = begun.data;
  const back = page.waitForRequest((request) => request.url().startsWith(redirectTo));
  await page.goto(url);
  await sayWho(page, "ada");
  await decide(page, "Allow");
  const code = new URL((await back).url()).searchParams.get("insforge_code") ?? "";
  const session = must(await auth.exchangeOAuthCode(code, codeVerifier));

  expect(session).toMatchObject({ user: { email: "ada@example.org", providers: ["acme"] } });
  expect(session.refreshToken).toEqual(expect.any(String));
  const { refreshToken = "" } = session;
  expect(must(await auth.refreshSession({ refreshToken })).user?.email).toBe("ada@example.org");
});
