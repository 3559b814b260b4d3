// In a stock Firefox: sign-in, reload, two tabs, sign-out across tabs, and a provider.
import type { ChildProcess } from "node:child_process";
import type { Browser, BrowserContext, Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type App, startApp } from "../support/app.js";
import { openFirefox, press, seen, submit } from "../support/firefox.js";
import { newEmail, PASSWORD } from "../support/people.js";
import { startProvider } from "../support/provider.js";
import { type Service, startService } from "../support/service.js";

let browser: Browser;
let context: BrowserContext;
let service: Service;
let app: App;
let provider: ChildProcess;
beforeAll(async () => {
  service = await startService();
  [browser, app, provider] = await Promise.all([openFirefox(), startApp(service.url), startProvider(service.url)]);
}, 120_000);
afterAll(async () => {
  provider?.kill();
  await Promise.all([browser.close(), app.stop(), service.stop()]);
});
beforeEach(async () => {
  context = await browser.createBrowserContext();
});
afterEach(() => context.close());

async function visit(path = ""): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(app.url + path);
  return page;
}

/** Page of a user who just signed up. */
async function signedUp(email = newEmail()): Promise<Page> {
  const page = await visit("#sign-up");
  await submit(page, { Name: "Ada Lovelace", Email: email, Password: PASSWORD });
  await seen(page, "not verified");
  return page;
}

test("a user signs up, signs out, signs in, and a reload keeps the session", async () => {
  const email = newEmail();
  const page = await signedUp(email);
  await press(page, "Sign out");
  await seen(page, "Welcome back");
  await submit(page, { Email: email, Password: PASSWORD });
  await seen(page, "not verified");

  await page.reload();

  await seen(page, "not verified");
});

test("a second tab is signed in, and a sign-out in one reaches the other", async () => {
  const first = await signedUp();
  const second = await visit();
  await seen(second, "not verified");

  await press(second, "Sign out");

  await seen(second, "Welcome back");
  await seen(first, "Welcome back");
  await first.reload();
  await seen(first, "Welcome back");
});

test("two tabs that reload at once both stay signed in", async () => {
  const first = await signedUp();
  const second = await visit();
  await seen(second, "not verified");

  await Promise.all([first.reload(), second.reload()]);

  await Promise.all([seen(first, "not verified"), seen(second, "not verified")]);
});

test("a user signs in by a provider, and a reload keeps the session", async () => {
  const page = await visit();
  await press(page, "Continue with acme");
  await page.locator("::-p-xpath(//label[contains(., 'Login')]//input | //input[@name='login'])").fill("ada");
  await press(page, "Go on");
  await press(page, "Allow");

  await seen(page, "ada@example.org");
  expect(page.url()).toBe(app.url);
  await page.reload();
  await seen(page, "ada@example.org");
});
