// In a stock Firefox with an authenticator in software: passkeys in the example app. Its driver cannot choose in the autofill,
// and this Firefox has neither signals to the device nor registration without a dialog.
import type { Browser, BrowserContext, Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { type App, startApp } from "../support/app.js";
import { addFirefoxAuthenticator, type FirefoxAuthenticator, openFirefox, press, seen, submit } from "../support/firefox.js";
import { codeIn, mailTo, newEmail, PASSWORD } from "../support/people.js";
import { freePort } from "../support/service.js";

let browser: Browser;
let context: BrowserContext;
let app: App;
let device: FirefoxAuthenticator;
beforeAll(async () => {
  const port = await freePort();
  [browser, app] = await Promise.all([openFirefox(port), startApp(inject("code"))]);
  device = await addFirefoxAuthenticator(port);
}, 120_000);
afterAll(async () => {
  device.disconnect();
  await Promise.all([browser.close(), app.stop()]);
});
beforeEach(async () => {
  context = await browser.createBrowserContext();
});
afterEach(() => context.close());

/** Page of a new user with a passkey, in the settings. */
async function equipped(): Promise<{ page: Page; email: string }> {
  const email = newEmail();
  const before = await device.count();
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(`${app.url}#sign-up`);
  await submit(page, { Name: "Ada Lovelace", Email: email, Password: PASSWORD });
  await submit(page, { Code: codeIn(await mailTo(inject("code"), email)) });
  await seen(page, "verified");
  await press(page, "Settings");
  await press(page, "Add a passkey");
  await page.locator("[data-passkeys] li").wait();
  expect(await device.count()).toBe(before + 1);
  return { page, email };
}

async function signOut(page: Page): Promise<void> {
  await press(page, "Back to your account");
  await press(page, "Sign out");
  await seen(page, "Welcome back");
}

test("a user adds a passkey and signs in with it; after its removal it is unknown", async () => {
  const { page } = await equipped();
  await signOut(page);
  await press(page, "Sign in with a passkey");
  await seen(page, "verified");

  await press(page, "Settings");
  await press(page, "Remove");
  await page.waitForFunction(() => !document.querySelector("[data-passkeys] li"));
  await signOut(page);
  await press(page, "Sign in with a passkey");
  await page.locator("[role=alert]:not([hidden])").wait();
  await seen(page, "Welcome back");
});

test("a passkey is the second factor", async () => {
  const { page, email } = await equipped();
  await press(page, "Turn on with your passkey");
  await press(page, "I have stored them");
  await seen(page, "10 recovery codes are left.");
  await signOut(page);
  await submit(page, { Email: email, Password: PASSWORD });
  await press(page, "Use your passkey");
  await seen(page, "verified");
});

test("an authenticator that does not verify its user signs no one in", async () => {
  const { page } = await equipped();
  await signOut(page);
  const calls: string[] = [];
  page.on("request", (request) => calls.push(request.url()));
  await device.verifies(false);
  await press(page, "Sign in with a passkey");
  await page.waitForFunction(() => {
    const button = document.querySelector<HTMLButtonElement>(".providers button");
    return button && !button.disabled;
  });
  await device.verifies(true);
  expect(calls.filter((url) => url.includes("/passkeys/")).map((url) => url.split("/").pop())).not.toContain("sign-in");
  await seen(page, "Welcome back");
});
