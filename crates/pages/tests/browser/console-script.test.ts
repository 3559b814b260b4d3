// What the script adds to the pages of the console, on states of the preview.
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openBrowser } from "../../../../clients/typescript/tests/support/app.js";
import { newTab } from "./person.js";
import { type Preview, startPreview } from "./preview.js";

let browser: Browser;
let preview: Preview;
let context: BrowserContext;
let page: Page;
let complaints: string[];
beforeAll(async () => {
  [browser, preview] = await Promise.all([openBrowser(), startPreview()]);
});
afterAll(() => Promise.all([browser.close(), preview.stop()]));
beforeEach(async () => {
  complaints = [];
  context = await browser.newContext({ locale: "en", timezoneId: "Europe/Berlin" });
  page = await newTab(context, complaints);
});
afterEach(async () => {
  await context.close();
  expect(complaints).toEqual([]);
});

const open = (state: string): Promise<unknown> => page.goto(`${preview.origin}/en/console.${state}.html`);
const isFocused = (selector: string): Promise<boolean> =>
  page.locator(selector).evaluate((field) => field === document.activeElement);

/** Answers the requests of the page's script for pages of the console with another state. */
async function answerWith(path: string, state: string): Promise<void> {
  await page.route(`**${path}`, async (route) => {
    if (route.request().resourceType() !== "xhr") return route.fallback();
    const answer = await fetch(`${preview.origin}/en/console.${state}.html`);
    await route.fulfill({ contentType: "text/html", body: await answer.text() });
  });
}

test("the key / focuses the search, unless it is typed into a field or turned off", async () => {
  await open("overview");
  await page.keyboard.press("/");
  expect(await isFocused("#find")).toBe(true);
  await page.keyboard.press("/");
  expect(await page.locator("#find").inputValue()).toBe("/");

  await page.getByRole("button", { name: "Turn off the shortcut /" }).click();
  await page.getByRole("button", { name: "Turn on the shortcut /" }).waitFor();
  await page.keyboard.press("/");
  expect(await isFocused("#find")).toBe(false);
  await page.reload();
  await page.getByRole("button", { name: "Turn on the shortcut /" }).waitFor();

  await open("users");
  await page.getByRole("button", { name: "Turn on the shortcut /" }).click();
  await page.getByRole("heading", { level: 1 }).click();
  await page.keyboard.press("/");
  expect(await isFocused("#q")).toBe(true);
});

test("a phone has no shortcut, and so no switch for it", async () => {
  await context.close();
  context = await browser.newContext({ hasTouch: true, isMobile: true });
  page = await newTab(context, complaints);
  await open("overview");
  await page.getByRole("button", { name: "Pause live numbers" }).waitFor();
  expect(await page.locator("[data-switch=shortcuts]").isVisible()).toBe(false);
  await page.keyboard.press("/");
  expect(await isFocused("#find")).toBe(false);
});

test("a search shows its result while one types, and the address follows", async () => {
  await open("users");
  await answerWith("/console/users?*", "users.no_match");

  await page.locator("#q").pressSequentially("nobody");

  await page.getByText("Clear").first().waitFor();
  expect(new URL(page.url()).searchParams.get("q")).toBe("nobody");
  expect(await isFocused("#q")).toBe(true);
});

test("numbers are loaded again every 15 seconds until they are paused", async () => {
  await page.clock.install();
  await open("overview");
  await answerWith("/en/console.overview.html", "overview.empty");
  expect(await page.locator(".tiles dd").first().textContent()).not.toBe("0");

  await page.getByRole("button", { name: "Pause live numbers" }).click();
  await page.clock.runFor(20_000);
  expect(await page.locator(".tiles dd").first().textContent()).not.toBe("0");
  await page.getByRole("button", { name: "Resume live numbers" }).click();
  await page.clock.runFor(20_000);

  await page.locator(".tiles dd", { hasText: /^0$/ }).first().waitFor();
});

test("all rows of a page are chosen at once, and counted", async () => {
  await open("users");
  const rows = await page.locator(".pick input[name]").count();

  await page.locator(".pick input[data-all]").check();

  expect(await page.locator("[data-chosen]").textContent()).toContain(String(rows));
  expect(await page.locator(".pick input[name]:checked").count()).toBe(rows);
  await page.locator(".pick input[data-all]").uncheck();
  expect(await page.locator("[data-chosen]").textContent()).not.toContain(String(rows));
});

test("an irreversible act waits until its phrase is typed", async () => {
  await open("delete");
  const button = page.locator("main form button.danger");
  expect(await button.getAttribute("aria-disabled")).toBe("true");
  await page.locator("[data-confirm]").fill("ada@example");
  expect(await button.getAttribute("aria-disabled")).toBe("true");

  await page.locator("[data-confirm]").fill("ada@example.org");

  expect(await button.getAttribute("aria-disabled")).toBe(null);
});

test("times are those of the browser, and the foot says so", async () => {
  await open("user");

  await page.getByText("Europe/Berlin").waitFor();
  expect(await page.locator("time[data-short]").first().textContent()).not.toContain("UTC");
});

test("an id is copied", async () => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await open("user");

  await page.locator("[data-copy=id]").click();

  await page.getByText("Copied").waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await page.locator("#id").textContent());
});

test("the numbers of an import that runs are loaded every two seconds until it has ended", async () => {
  await page.clock.install();
  await open("import_job.running");
  let asked = 0;
  await page.route("**/en/console.import_job.running.html", async (route) => {
    if (route.request().resourceType() !== "xhr") return route.fallback();
    asked += 1;
    const answer = await fetch(`${preview.origin}/en/console.import_job.html`);
    await route.fulfill({ contentType: "text/html", body: await answer.text() });
  });
  await page.getByText("Records are being read.").waitFor();

  await page.clock.runFor(2_500);
  await page.getByText("All records were read.").waitFor();
  await page.clock.runFor(20_000);

  expect(asked).toBe(1);
});

test("a file that is too large for an upload is told at once, and held back", async () => {
  await open("import_new");
  const button = page.getByRole("button", { name: "Upload the file" });
  const file = (size: number): { name: string; mimeType: string; buffer: Buffer } => ({ name: "a.csv", mimeType: "text/csv", buffer: Buffer.alloc(size) });

  await page.locator("#file").setInputFiles(file(10 * 1024 * 1024 + 1));
  await page.getByText("This file is too large for an upload.").waitFor();
  expect(await button.getAttribute("aria-disabled")).toBe("true");
  await page.locator("#file").setInputFiles(file(10));

  await page.getByText("This file is too large for an upload.").waitFor({ state: "hidden" });
  expect(await button.getAttribute("aria-disabled")).toBe(null);
});
