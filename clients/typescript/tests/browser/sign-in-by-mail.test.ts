// In a real browser: sign-in by mailed code and by mailed link, in the example app.
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { type App, openBrowser, picture, seen, startApp, submit, visit } from "../support/app.js";
import { codeIn, linkIn, mailTo, newEmail } from "../support/people.js";

let browser: Browser;
let context: BrowserContext;
let app: App;
beforeAll(async () => {
  browser = await openBrowser();
  app = await startApp(inject("link"));
});
afterAll(async () => {
  await app.stop();
  await browser.close();
});
beforeEach(async () => {
  context = await browser.newContext();
});
afterEach(() => context.close());

/** Page that waits for the code of a mail to a new address. */
async function asked(): Promise<{ page: Page; mail: string; email: string }> {
  const email = newEmail();
  const page = await visit(context, app.url);
  await page.getByLabel("Email", { exact: true }).fill(email);
  await page.getByText("Mail me a code", { exact: true }).click();
  await seen(page, "Check your mail");
  return { page, email, mail: await mailTo(inject("link"), email) };
}

const who = (page: Page): Promise<void> => page.getByText("verified", { exact: true }).waitFor();

test("a code signs in", async () => {
  const { page, mail, email } = await asked();
  await submit(page, { Code: "000000" });
  await page.getByRole("alert").waitFor();
  await picture(page, "mailed-code");

  await submit(page, { Code: codeIn(mail) });

  await who(page);
  expect(await page.locator("#who").textContent()).toContain(email);
});

test("a link signs in the browser that asked: the tab where it opens, and the one that waits", async () => {
  const { page, mail } = await asked();
  const link = linkIn(mail);

  const opened = await visit(context, link);

  await who(opened);
  expect(opened.url()).toBe(app.url);
  await who(page);
  await opened.reload();
  await who(opened);

  // It was used.
  await opened.goto(link);
  await seen(opened, "That did not work");
});

test("in another browser a link asks for the code of the same mail, which still signs in where it was asked for", async () => {
  const { page, mail } = await asked();
  const elsewhere = await browser.newContext();

  const other = await visit(elsewhere, linkIn(mail));

  await seen(other, "Type the code where you began");
  await picture(other, "link-elsewhere");
  expect(other.url()).toBe(app.url);
  await other.reload();
  await seen(other, "Welcome back");
  await elsewhere.close();
  await submit(page, { Code: codeIn(mail) });
  await who(page);
});
