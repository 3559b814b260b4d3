// The daily questions of support, each in at most three presses from the overview, on both engines, with script and without.
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openBrowser } from "../../../../clients/typescript/tests/support/app.js";
import { CROSSED } from "./combinations.js";
import { type Staffed, startStaffed } from "./operator.js";
import { newTab, press as pressed, shown, type } from "./person.js";

describe.each(CROSSED)("%s", (_, engine, javaScriptEnabled) => {
  let browser: Browser;
  let service: Staffed;
  let context: BrowserContext;
  let page: Page;
  let presses: number;
  const complaints: string[] = [];
  beforeAll(async () => {
    [browser, service] = await Promise.all([openBrowser(), startStaffed(engine, { "auth.email_sign_in": "off" })]);
    context = await browser.newContext({ javaScriptEnabled, locale: "en" });
    page = await newTab(context, complaints);
    await service.becomeOwner(page);
  });
  afterAll(async () => {
    await Promise.all([browser.close(), service.stop()]);
    expect(complaints).toEqual([]);
  });
  beforeEach(async () => {
    await page.goto(`${service.url}/console`);
    await shown(page, "Overview");
    presses = 0;
  });

  /** Presses a button or a link, and counts it. */
  async function press(name: string | RegExp): Promise<void> {
    presses += 1;
    await pressed(page, name);
  }

  /** Finds a user with the search field that every page has. */
  async function find(email: string): Promise<void> {
    await page.locator("#find").fill(email);
    await press("Find");
    await page.waitForURL(/\/console\/users/);
    if (/\/console\/users\/[0-9a-f-]{36}/.test(page.url())) return;
    await press(email);
    await shown(page, email);
  }

  /** Waits for a text on the page. */
  const says = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();

  test("why can somebody not sign in", async () => {
    const email = await service.newAccount(false);
    await page.reload();

    await find(email);

    await says(/Cannot sign in: address not verified since .*; last mail delivered/);
    expect(presses).toBeLessThanOrEqual(3);
  });

  test("send the mail again", async () => {
    const email = await service.newAccount(false);

    await find(email);
    await press("Send verification mail");

    await says("is on its way.");
    expect(presses).toBeLessThanOrEqual(3);
  });

  test("end everything of somebody", async () => {
    const email = await service.newAccount(true);

    await find(email);
    await press("End all sessions");

    await says("Signed in nowhere.");
    expect(presses).toBeLessThanOrEqual(3);
  });

  test("what did somebody do", async () => {
    const email = await service.newAccount(true);

    await find(email);
    await press("Show all events of this user");

    await shown(page, "Audit");
    await page.getByRole("rowheader", { name: "Address verified" }).first().waitFor();
    expect(presses).toBeLessThanOrEqual(3);
  });

  test("delete somebody", async () => {
    const email = await service.newAccount(true);

    await find(email);
    await type(page, { [`Type ${email} to confirm`]: email });
    await press("Delete this account");

    await page.waitForURL(/\/console\/users\?told=/);
    expect(presses).toBeLessThanOrEqual(3);
    const search = `${service.url}/console/users?q=${encodeURIComponent(email)}`;
    expect(await (await page.goto(search))?.text()).not.toContain(`>${email}<`);
  });
});
