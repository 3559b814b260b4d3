// In a real browser: tabs, reloads, and an unstable network.
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { type App, countRefreshes, openBrowser, picture, seen, shown, startApp, submit, visit } from "../support/app.js";
import { newEmail, PASSWORD } from "../support/people.js";
import { type Service, startService } from "../support/service.js";

let browser: Browser;
let context: BrowserContext;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  context = await browser.newContext();
});
afterEach(() => context.close());

/** Page of a user who just signed up. */
async function signedUp(app: App): Promise<Page> {
  const page = await visit(context, `${app.url}#sign-up`);
  await submit(page, { Name: "Ada Lovelace", Email: newEmail(), Password: PASSWORD });
  await seen(page, "not verified");
  return page;
}

const signOut = (page: Page): Promise<void> => page.getByText("Sign out", { exact: true }).click();

describe("tabs", () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp(inject("open"));
  });
  afterAll(() => app.stop());

  test("a reload keeps the session", async () => {
    const page = await signedUp(app);

    await page.reload();

    await seen(page, "not verified");
    expect(await page.locator("[data-name]").textContent()).toBe("Ada Lovelace");
  });

  test("two tabs that refresh at once send one refresh, and both stay signed in", async () => {
    const first = await signedUp(app);
    const second = await visit(context, app.url);
    await seen(second, "not verified");
    // The response comes when the other tab waits for the lock.
    const waiting = (): Promise<number> =>
      first.evaluate(async () => ((await navigator.locks.query()).pending ?? []).length);
    await context.route("**/api/auth/refresh*", async (route) => {
      await expect.poll(waiting, { timeout: 8_000 }).toBe(1);
      await route.continue();
    });
    const refreshes = countRefreshes(context);

    await Promise.all([first.reload(), second.reload()]);
    await Promise.all([seen(first, "not verified"), seen(second, "not verified")]);

    expect(refreshes).toEqual({ total: 1, most: 1 });
    await context.unroute("**/api/auth/refresh*");
    await first.reload();
    await seen(first, "not verified");
    await seen(second, "not verified");
  });

  test("a sign-out in one tab reaches the other, and a sign-in too", async () => {
    const first = await signedUp(app);
    const second = await visit(context, app.url);
    await seen(second, "not verified");

    await signOut(first);
    await seen(second, "Welcome back");
    const email = newEmail();
    await second.goto(`${app.url}#sign-up`);
    await shown(second, "Create an account");
    await submit(second, { Email: email, Password: PASSWORD });

    await seen(second, "not verified");
    await first.locator("#who", { hasText: email }).waitFor();
    await picture(first, "signed-in-elsewhere");
  });

  test("a name that one tab changes is shown in the other", async () => {
    const first = await signedUp(app);
    const second = await visit(context, app.url);
    await seen(second, "not verified");

    await submit(first, { Name: "Ada King" });

    await second.locator("[data-name]", { hasText: "Ada King" }).waitFor();
  });

  test("a search shows people and how many there are, across origins", async () => {
    const page = await signedUp(app);
    const bio = `Knows of ${newEmail()}`;
    await submit(page, { "About you": bio });
    await seen(page, "Saved.");

    await page.getByLabel("Search people").fill(bio);

    await seen(page, "1 in all");
    await picture(page, "search");
  });

  test("a browser without Web Locks keeps to one refresh all the same", async () => {
    await context.addInitScript(() => Object.defineProperty(Navigator.prototype, "locks", { value: undefined }));
    const first = await signedUp(app);
    const second = await visit(context, app.url);
    await seen(second, "not verified");
    const refreshes = countRefreshes(context);

    await Promise.all([first.reload(), second.reload()]);
    await Promise.all([seen(first, "not verified"), seen(second, "not verified")]);

    expect(refreshes.most).toBe(1);
  });
});

describe("access tokens of eight seconds", () => {
  let service: Service;
  let app: App;
  beforeAll(async () => {
    service = await startService({ "auth.access_token_ttl": "8s" });
    app = await startApp(service.url);
  });
  afterAll(async () => {
    await app.stop();
    await service.stop();
  });

  test("are refreshed shortly before their end, once for all tabs", async () => {
    const first = await signedUp(app);
    const second = await visit(context, app.url);
    await seen(second, "not verified");
    const refreshes = countRefreshes(context);

    await expect.poll(() => refreshes.total, { timeout: 12_000 }).toBeGreaterThan(0);
    await expect.poll(() => second.locator("[data-events]").textContent()).toMatch(/TOKEN_REFRESHED/);

    await submit(first, { Name: "Ada King" });
    await seen(first, "Saved.");
    expect(refreshes.most).toBe(1);
  });

  test("that expire while offline do not sign out", async () => {
    const page = await signedUp(app);
    const refreshes = countRefreshes(context);

    await expect.poll(() => page.getByLabel("Name", { exact: true }).isEnabled()).toBe(true);
    await context.setOffline(true);
    await page.locator("#offline").waitFor();
    await expect.poll(() => refreshes.total, { timeout: 12_000 }).toBeGreaterThan(0);
    await submit(page, { Name: "Ada King" });
    await page.getByRole("alert").waitFor();
    await picture(page, "offline");
    expect(await page.locator("[data-name]").textContent()).toBe("Ada Lovelace");

    await context.setOffline(false);
    await page.locator("#offline").waitFor({ state: "hidden" });
    await submit(page, { Name: "Ada King" });
    await seen(page, "Saved.");
  });
});
