// In a real browser: sign-up and reset, by code and by link.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type App, openBrowser, picture, seen, shown, startApp, submit, visit } from "../support/app.js";
import { codeIn, linkIn, mailTo, newEmail, PASSWORD } from "../support/people.js";

const NEW_PASSWORD = "staple of the battery";
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

/** Signs up, up to the view about the mail. */
async function signUp(page: Page, url: string, email: string): Promise<void> {
  await page.goto(`${url}#sign-up`);
  await shown(page, "Create an account");
  await submit(page, { Name: "Ada Lovelace", Email: email, Password: PASSWORD });
  await seen(page, "Check your mail");
}

describe("by code", () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp(inject("code"));
  });
  afterAll(() => app.stop());

  test("a user signs up, types the code, and is signed in", async () => {
    const page = await visit(await browser.newContext(), app.url);
    await seen(page, "Welcome back");
    await picture(page, "sign-in");
    await page.getByText("Create an account").click();
    await seen(page, "8 characters or more.");
    await picture(page, "sign-up");

    const email = newEmail();
    await submit(page, { Name: "Ada Lovelace", Email: email, Password: PASSWORD });
    await seen(page, "Check your mail");
    await submit(page, { Code: "000000" });
    await page.getByRole("alert").waitFor();
    await picture(page, "wrong-code");
    await submit(page, { Code: codeIn(await mailTo(inject("code"), email)) });

    await seen(page, "verified");
    expect(await page.locator("[data-name]").textContent()).toBe("Ada Lovelace");
    await picture(page, "account");
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 390, height: 844 });
    await picture(page, "account-dark-phone");
    await page.context().close();
  });

  test("a user resets the password by code, and signs in with the new one", async () => {
    const page = await visit(await browser.newContext(), app.url);
    const email = newEmail();
    await signUp(page, app.url, email);
    await submit(page, { Code: codeIn(await mailTo(inject("code"), email)) });
    await seen(page, "verified");
    await page.getByText("Sign out", { exact: true }).click();
    await seen(page, "Welcome back");

    await page.getByText("Forgot your password?").click();
    await shown(page, "Forgot your password?");
    await submit(page, { Email: email });
    await page.getByLabel("Code", { exact: true }).waitFor();
    await submit(page, { Code: codeIn(await mailTo(inject("code"), email, 2)) });
    await submit(page, { "New password": NEW_PASSWORD });
    await seen(page, "Your password is changed");
    await picture(page, "password-changed");
    await page.getByText("Go to sign-in").click();
    await shown(page, "Welcome back");
    await submit(page, { Email: email, Password: NEW_PASSWORD });

    await seen(page, "verified");
    await page.context().close();
  });
});

describe("by link", () => {
  let app: App;
  beforeAll(async () => {
    app = await startApp(inject("link"));
  });
  afterAll(() => app.stop());

  /** User who signed up and opened the mailed link. */
  async function verified(page: Page): Promise<string> {
    const email = newEmail();
    await signUp(page, app.url, email);
    await page.goto(linkIn(await mailTo(inject("link"), email)));
    await seen(page, "Your address is verified");
    return email;
  }

  test("a user signs up, opens the link, and signs in", async () => {
    const page = await visit(await browser.newContext(), app.url);

    const email = await verified(page);
    await picture(page, "verified");
    expect(page.url()).toBe(app.url);
    await page.getByText("Go to sign-in").click();
    await shown(page, "Welcome back");
    await submit(page, { Email: email, Password: PASSWORD });

    await seen(page, "verified");
    await page.context().close();
  });

  test("a user resets the password by link; the token leaves the address bar", async () => {
    const page = await visit(await browser.newContext(), app.url);
    const email = await verified(page);

    await page.goto(`${app.url}#forgot`);
    await shown(page, "Forgot your password?");
    await submit(page, { Email: email });
    await seen(page, "Check your mail");
    await page.goto(linkIn(await mailTo(inject("link"), email, 2)));
    await seen(page, "Choose a new password");
    await picture(page, "new-password");
    expect(page.url()).not.toContain("token");
    await submit(page, { "New password": NEW_PASSWORD });
    await seen(page, "Your password is changed");
    await page.getByText("Go to sign-in").click();
    await shown(page, "Welcome back");
    await submit(page, { Email: email, Password: NEW_PASSWORD });

    await seen(page, "verified");
    await page.context().close();
  });

  test("a link that was used shows why, and no form", async () => {
    const page = await visit(await browser.newContext(), app.url);
    const email = await verified(page);
    await page.goto(`${app.url}#forgot`);
    await shown(page, "Forgot your password?");
    await submit(page, { Email: email });
    await seen(page, "Check your mail");
    const link = linkIn(await mailTo(inject("link"), email, 2));
    await page.goto(link);
    await submit(page, { "New password": NEW_PASSWORD });
    await seen(page, "Your password is changed");

    await page.goto(link);

    await seen(page, "That did not work");
    await picture(page, "used-link");
    expect(await page.locator("form").count()).toBe(0);
    await page.context().close();
  });
});
