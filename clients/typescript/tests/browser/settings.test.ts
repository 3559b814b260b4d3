// In a real browser: the settings of the user in the example app.
import { readFile } from "node:fs/promises";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";
import { type App, openBrowser, picture, seen, startApp, submit, visit } from "../support/app.js";
import { codeIn, mailTo, newEmail, PASSWORD } from "../support/people.js";

let browser: Browser;
let context: BrowserContext;
let app: App;
beforeAll(async () => {
  browser = await openBrowser();
  app = await startApp(inject("code"));
});
afterAll(async () => {
  await app.stop();
  await browser.close();
});
afterEach(() => context.close());

const press = (page: Page, name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();

/** Settings of a new user, who signed in by mailed code and has no password. */
async function member(options?: BrowserContextOptions): Promise<{ page: Page; email: string }> {
  context = await browser.newContext(options);
  const email = newEmail();
  const page = await visit(context, app.url);
  await page.locator("[name=email]").fill(email);
  await page.getByRole("button", { name: /Mail me a code|Code per E-Mail/ }).click();
  await page.locator("[name=otp]").fill(codeIn(await mailTo(inject("code"), email)));
  await page.locator("form button.primary").click();
  await page.locator("a[href='#settings']").click();
  await page.locator("[data-activity] li").first().waitFor();
  return { page, email };
}

/** Pictures on a phone and a desktop, light and dark. */
async function pictures(page: Page, name: string): Promise<void> {
  for (const [device, width, height] of [["phone", 390, 844], ["desktop", 1280, 900]] as const) {
    await page.setViewportSize({ width, height });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await picture(page, `${name}-${device}-${colorScheme}`);
    }
  }
}

test("a user sets the first password, changes the address, names the session, and sees it all in the activity", async () => {
  const { page, email } = await member();
  await pictures(page, "settings");

  await press(page, "Set a password");
  await page.getByLabel("New password").fill("short");
  await press(page, "Save");
  await page.getByRole("alert").waitFor();
  await page.getByLabel("New password").fill(PASSWORD);
  await press(page, "Save");
  await seen(page, "Your password is set.");
  await page.getByRole("button", { name: "Change password" }).waitFor();

  const address = newEmail();
  await press(page, "Change address");
  await page.getByLabel("New address").fill(address);
  await press(page, "Send codes");
  await page.getByLabel(`Code from the mail to ${address}`).fill("000000");
  await page.getByLabel(`Code from the mail to ${email}`).fill(codeIn(await mailTo(inject("code"), email, 2)));
  await press(page, "Confirm");
  await page.getByRole("alert").waitFor();
  await pictures(page, "settings-codes");
  // The right one counted.
  expect(await page.getByLabel(`Code from the mail to ${email}`).count()).toBe(0);
  await page.getByLabel(`Code from the mail to ${address}`).fill(codeIn(await mailTo(inject("code"), address)));
  await press(page, "Confirm");
  await seen(page, "Your address is changed.");
  expect(await page.locator("[data-address] li").textContent()).toContain(address);
  expect(await page.locator("#who").textContent()).toBe(address);

  await press(page, "Change name");
  await page.getByLabel("Name of the session").fill("Laptop at home");
  await page.keyboard.press("Enter");
  await page.locator("[data-sessions]").getByText("Laptop at home").waitFor();
  for (const text of ["Address changed", "First password set"]) await page.locator("[data-activity]").getByText(text).waitFor();
});

test("a user cancels a change of the address, also after a reload", async () => {
  const { page } = await member();
  const address = newEmail();
  await press(page, "Change address");
  await page.getByLabel("New address").fill(address);
  await press(page, "Send codes");
  await page.getByLabel(`Code from the mail to ${address}`).waitFor();

  await page.reload();
  await seen(page, `A change to ${address} was begun elsewhere.`);
  await press(page, "Cancel the change");

  await expect.poll(() => page.getByText("was begun elsewhere").count()).toBe(0);
});

test("a user downloads the data, deletes the account, and restores it by signing in", async () => {
  const { page, email } = await member();
  const download = page.waitForEvent("download");
  await press(page, "Download");
  const file = await download;
  expect(file.suggestedFilename()).toBe("account.json");
  expect(JSON.parse(await readFile(await file.path(), "utf8"))).toMatchObject({ account: { user: { email } } });

  await press(page, "Delete account");
  await picture(page, "deletion");
  await press(page, "Keep it");
  await press(page, "Delete account");
  await press(page, "Delete my account");
  await seen(page, "Your account is being deleted");
  await picture(page, "deleted");
  await page.reload();
  await seen(page, "Welcome back");

  await page.getByLabel("Email", { exact: true }).fill(email);
  await press(page, "Mail me a code");
  await submit(page, { Code: codeIn(await mailTo(inject("code"), email, 3)) });
  await press(page, "Restore my account");

  await seen(page, "verified");
  expect(await page.locator("#who").textContent()).toBe(email);
});

test("a user whose browser is German reads German, mails included, and may choose English", async () => {
  const { page, email } = await member({ locale: "de-AT" });
  expect(await page.evaluate("document.documentElement.lang")).toBe("de");
  await pictures(page, "settings-german");
  expect(await mailTo(inject("code"), email)).toContain("um sich bei Latchkey anzumelden");
  expect(await page.locator("[data-mails] select").inputValue()).toBe("de");

  await page.locator("[data-mails] select").selectOption("fr");
  await press(page, "English");
  await page.locator("[data-mails] select option[value=fr]:checked").waitFor({ state: "attached" });

  await seen(page, "Settings");
  await page.reload();
  await seen(page, "Settings");
});

test("the keyboard alone signs in, opens the settings, and sets a password", async () => {
  context = await browser.newContext();
  const email = newEmail();
  const page = await visit(context, app.url);
  const { keyboard } = page;
  /** Moves the focus on until it is on an element with this text or label. */
  const reach = async (name: string): Promise<void> => {
    for (let steps = 0; steps < 60; steps++) {
      const at = await page.evaluate<string>(
        "(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.labels?.[0]?.textContent ?? document.activeElement?.textContent ?? '').trim()",
      );
      if (at === name) return;
      await keyboard.press("Tab");
    }
    throw new Error(`the focus does not reach ${name}`);
  };
  await seen(page, "Welcome back");
  await keyboard.type(email);
  await page.getByRole("button", { name: "Mail me a code" }).waitFor();
  await reach("Mail me a code");
  await keyboard.press("Enter");
  await seen(page, "Check your mail");
  await keyboard.type(codeIn(await mailTo(inject("code"), email)));
  await keyboard.press("Enter");
  await seen(page, "verified");
  await reach("Settings");
  await keyboard.press("Enter");
  await page.getByRole("button", { name: "Set a password" }).waitFor();
  await reach("Set a password");
  await keyboard.press("Enter");
  await keyboard.type(PASSWORD);
  await keyboard.press("Enter");

  await seen(page, "Your password is set.");
});
