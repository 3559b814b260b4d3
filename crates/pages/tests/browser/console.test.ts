// The way into the console and its overview, against the running service, on both engines, with script and without.
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openBrowser } from "../../../../clients/typescript/tests/support/app.js";
import { PASSWORD } from "../../../../clients/typescript/tests/support/people.js";
import { CROSSED } from "./combinations.js";
import { type Staffed, startStaffed } from "./operator.js";
import { newTab, press, send, shown } from "./person.js";

describe.each(CROSSED)("%s", (_, engine, javaScriptEnabled) => {
  let browser: Browser;
  let service: Staffed;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  beforeAll(async () => {
    [browser, service] = await Promise.all([openBrowser(), startStaffed(engine)]);
  });
  afterAll(() => Promise.all([browser.close(), service.stop()]));
  beforeEach(async () => {
    complaints = [];
    context = await browser.newContext({ javaScriptEnabled, locale: "en" });
    page = await newTab(context, complaints);
  });
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });

  test("an owner activates the role by its link, signs out, and signs in again without it", async () => {
    const email = await service.becomeOwner(page);

    await press(page, "Sign out");
    await shown(page, "Sign in");
    await page.goto(`${service.url}/console`);
    await shown(page, "Sign in");
    await send(page, { "Email address": email, Password: PASSWORD }, "Sign in");

    await shown(page, "Overview");
  });

  test("an account without a role gets the answer of a wrong password", async () => {
    const email = await service.newAccount(true);
    await page.goto(`${service.url}/console/sign-in`);

    await send(page, { "Email address": email, Password: PASSWORD }, "Sign in");

    await page.getByText("Email address or password is not right.").waitFor();
  });

  test.runIf(javaScriptEnabled)("the key / focuses the search, and numbers are loaded again every 15 seconds", async () => {
    await page.clock.install();
    await service.becomeOwner(page);

    await page.keyboard.press("/");
    expect(await page.locator("#find").evaluate((field) => field === document.activeElement)).toBe(true);
    const again = page.waitForResponse((response) => response.request().resourceType() === "xhr" && response.url().endsWith("/console"));
    await page.clock.runFor(16_000);

    expect((await again).status()).toBe(200);
  });
});
