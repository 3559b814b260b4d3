// In a real browser: two apps of one site, on two ports of one host, share the session of one service.
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { type App, openBrowser, seen, shown, startApp, submit, visit } from "../support/app.js";
import { newEmail, PASSWORD } from "../support/people.js";

let browser: Browser;
let context: BrowserContext;
let apps: App[];
beforeAll(async () => {
  browser = await openBrowser();
  apps = [await startApp(inject("open")), await startApp(inject("open"))];
});
afterAll(async () => {
  await browser.close();
  await Promise.all(apps.map((app) => app.stop()));
});
beforeEach(async () => {
  context = await browser.newContext();
});
afterEach(() => context.close());

const url = (number: 0 | 1): string => apps[number]?.url ?? "";

/** Signs up in the first app, on a new page. */
async function signedUp(email = newEmail()): Promise<Page> {
  const page = await visit(context, `${url(0)}#sign-up`);
  await submit(page, { Name: "Ada Lovelace", Email: email, Password: PASSWORD });
  await seen(page, "not verified");
  return page;
}

const signOut = (page: Page): Promise<void> => page.getByText("Sign out", { exact: true }).click();

test("a sign-in in one app is one in the other, and a reload keeps it", async () => {
  await signedUp();

  const other = await visit(context, url(1));
  await seen(other, "not verified");
  await other.reload();

  await seen(other, "not verified");
});

test("a visitor who opened an app before the sign-in is signed in after a reload", async () => {
  const other = await visit(context, url(1));
  await seen(other, "Welcome back");
  await signedUp();

  await other.reload();

  await seen(other, "not verified");
});

test("a sign-out in one app ends the session of the other", async () => {
  const page = await signedUp();
  const other = await visit(context, url(1));
  await seen(other, "not verified");

  await signOut(other);
  await seen(other, "Welcome back");
  await page.reload();

  await seen(page, "Welcome back");
});

test("another user who signs in in one app becomes the user of the other, with separate events", async () => {
  const page = await signedUp();
  const other = await visit(context, url(1));
  await seen(other, "not verified");
  const email = newEmail();
  await signOut(page);
  await seen(page, "Welcome back");
  await page.goto(`${url(0)}#sign-up`);
  await shown(page, "Create an account");
  await submit(page, { Email: email, Password: PASSWORD });
  await seen(page, "not verified");

  // The first user's token is refused; the cookie is the second user's.
  await submit(other, { Name: "Ada King" });

  await other.locator("#who", { hasText: email }).waitFor();
  await expect.poll(() => other.locator("[data-events]").textContent()).toMatch(/SIGNED_IN/);
});

test("a sign-out without a network ends the session at the service when it is back", async () => {
  const page = await signedUp();
  const other = await visit(context, url(1));
  await seen(other, "not verified");

  await context.setOffline(true);
  await signOut(page);
  await seen(page, "Welcome back");
  await context.setOffline(false);
  const isPending = "Object.keys(localStorage).some((key) => key.endsWith(':sign-outs'))";
  await expect.poll(() => page.evaluate(isPending)).toBe(false);
  await other.reload();

  await seen(other, "Welcome back");
});
