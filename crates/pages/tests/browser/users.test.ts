// The list of users in the console, by keyboard, on both engines, with script and without: find, filter, choose, ban.
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openBrowser } from "../../../../clients/typescript/tests/support/app.js";
import { CROSSED } from "./combinations.js";
import { guard } from "./corpus.js";
import { type Staffed, startStaffed } from "./operator.js";
import { newTab, press, reach, send, shown } from "./person.js";

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
  beforeEach(() => {
    complaints = [];
  });
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });

  /** Signs a new owner in. */
  async function enter(): Promise<void> {
    context = await browser.newContext({ javaScriptEnabled, locale: "en" });
    page = await newTab(context, complaints);
    await guard(page, complaints);
    await service.becomeOwner(page);
  }

  /** Moves the focus to a search field; a script has a key for it. */
  async function search(selector: string): Promise<void> {
    if (javaScriptEnabled) await page.keyboard.press("/");
    else await reach(page, page.locator(selector));
  }

  /** Asks for what the filters say; a script does it while one types. */
  async function apply(): Promise<void> {
    if (!javaScriptEnabled) await press(page, "Apply");
  }

  /** Addresses in the rows of the list. */
  const rows = (): Promise<string[]> => page.locator("tbody th[scope=row] a").allInnerTexts();

  test("a user is found from the overview by the search field and one press", async () => {
    const email = await service.newAccount(true, "Grace Hopper");
    await enter();

    await search("#find");
    await page.keyboard.insertText(email);
    await page.keyboard.press("Enter");

    await shown(page, "Users");
    expect(await rows()).toEqual([email]);
    expect(new URL(page.url()).searchParams.get("q")).toBe(email);
  });

  test("filters act, stay in the address, and survive a reload", async () => {
    const email = await service.newAccount(false, "Mary Somerville");
    await enter();
    await page.goto(`${service.url}/console/users`);

    await search("#q");
    await page.keyboard.insertText("somerv");
    await apply();
    await page.getByText("1 account", { exact: true }).waitFor();
    await page.getByLabel("State").selectOption("pending");
    await apply();
    await page.waitForURL(/state=pending/);
    await page.reload();

    expect(await rows()).toEqual([email]);
    expect(await page.getByLabel("State").inputValue()).toBe("pending");
    await page.getByLabel("State").selectOption("banned");
    await apply();
    await page.getByText("No account matches.").waitFor();
  });

  test("chosen accounts are named, banned and told one by one", async () => {
    const emails = [await service.newAccount(true, "Ada Byron"), await service.newAccount(true, "Annabella Byron")];
    await enter();
    await page.goto(`${service.url}/console/users?q=byron&state=verified`);

    for (const email of emails) await page.getByRole("checkbox", { name: email, exact: true }).check();
    if (javaScriptEnabled) await page.getByText("2 chosen. The next page names them and asks.").waitFor();
    await page.getByLabel("With the chosen accounts").selectOption("ban");
    await press(page, "Go on");
    await shown(page, "Ban 2 accounts");
    expect((await rows()).sort()).toEqual([...emails].sort());
    await press(page, "Ban these accounts");

    await shown(page, "Accounts banned");
    expect(await page.getByText("Done", { exact: true }).count()).toBe(2);
    await page.reload();
    await shown(page, "Accounts banned");
  });

  test("an account is created by the form, and the list sorts by keyboard", async () => {
    await enter();
    await page.goto(`${service.url}/console/users`);

    await press(page, "Create user");
    await send(page, { "Email address": "aaa@example.org" }, "Create user");
    await page.getByText("The account is created.").waitFor();
    await page.goto(`${service.url}/console/users`);
    await press(page, "User");
    await page.locator("th[aria-sort=ascending]").waitFor();

    expect((await rows())[0]).toBe("aaa@example.org");
  });
});
