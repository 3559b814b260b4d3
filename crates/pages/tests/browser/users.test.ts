// The list of users in the console, by keyboard, with and without script: find, filter, choose, ban.
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openBrowser } from "../../../../clients/typescript/tests/support/app.js";
import { CORPUS, guard } from "./corpus.js";
import { type Staffed, startStaffed } from "./operator.js";
import { newTab, press, send, shown } from "./person.js";

let browser: Browser;
let service: Staffed;
let context: BrowserContext;
let page: Page;
let complaints: string[];
beforeAll(async () => {
  [browser, service] = await Promise.all([openBrowser(), startStaffed()]);
});
afterAll(() => Promise.all([browser.close(), service.stop()]));
beforeEach(() => {
  complaints = [];
});
afterEach(async () => {
  await context.close();
  expect(complaints).toEqual([]);
});

async function enter(javaScriptEnabled = true): Promise<void> {
  context = await browser.newContext({ locale: "en", javaScriptEnabled });
  page = await newTab(context, complaints);
  await guard(page, complaints);
  await service.becomeOwner(page);
}

/** Addresses in the rows of the list. */
const rows = (): Promise<string[]> => page.locator("tbody th[scope=row] a").allInnerTexts();

test("a user is found from the overview by the search field and one press", async () => {
  const email = await service.newAccount(true, "Grace Hopper");
  await enter();

  await page.keyboard.press("/");
  await page.keyboard.insertText(email);
  await page.keyboard.press("Enter");

  await shown(page, "Users");
  expect(await rows()).toEqual([email]);
  expect(new URL(page.url()).searchParams.get("q")).toBe(email);
});

test("filters act while one types, stay in the address, and survive a reload", async () => {
  const email = await service.newAccount(false, "Mary Somerville");
  await enter();
  await page.goto(`${service.url}/console/users`);

  await page.keyboard.press("/");
  await page.keyboard.insertText("somerv");
  await page.getByText("1 account", { exact: true }).waitFor();
  await page.getByLabel("State").selectOption("pending");
  await page.waitForURL(/state=pending/);
  await page.reload();

  expect(await rows()).toEqual([email]);
  expect(await page.getByLabel("State").inputValue()).toBe("pending");
  await page.getByLabel("State").selectOption("banned");
  await page.getByText("No account matches.").waitFor();
});

test.each([true, false])("chosen accounts are named, banned and told one by one, with script %s", async (hasScript) => {
  const emails = [await service.newAccount(true, "Ada Byron"), await service.newAccount(true, "Annabella Byron")];
  await enter(hasScript);
  await page.goto(`${service.url}/console/users?q=byron&state=verified`);

  for (const email of emails) await page.getByRole("checkbox", { name: email, exact: true }).check();
  if (hasScript) await page.getByText("2 chosen. The next page names them and asks.").waitFor();
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

test.each(CORPUS)("a name like %s is text in the list", async (text) => {
  const email = await service.newAccount(true, text);
  await enter();

  await page.goto(`${service.url}/console/users?q=${email}`);

  expect(await rows()).toEqual([email]);
});
