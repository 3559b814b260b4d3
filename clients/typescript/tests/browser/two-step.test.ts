// In a real browser: two-step sign-in in the example app.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type App, openBrowser, picture, seen, startApp, submit, visit } from "../support/app.js";
import { codeIn, mailTo, newEmail, PASSWORD } from "../support/people.js";
import { totpOf } from "../support/totp.js";

let browser: Browser;
let app: App;
beforeAll(async () => {
  browser = await openBrowser();
  app = await startApp(inject("code"));
});
afterAll(async () => {
  await app.stop();
  await browser.close();
});

const press = (page: Page, name: string): Promise<void> => page.getByText(name, { exact: true }).click();

/** Page of a new user with two-step sign-in, with the secret of the app and the recovery codes. */
async function enrolled(): Promise<{ page: Page; email: string; secret: string; used: string; codes: string[] }> {
  const email = newEmail();
  const page = await visit(await browser.newContext(), `${app.url}#sign-up`);
  await submit(page, { Name: "Ada Lovelace", Email: email, Password: PASSWORD });
  await submit(page, { Code: codeIn(await mailTo(inject("code"), email)) });
  await seen(page, "verified");

  await press(page, "Settings");
  await seen(page, "off");
  await page.getByText("this one", { exact: true }).waitFor();
  await press(page, "Add an authenticator app");
  await seen(page, "Scan this code");
  expect((await page.locator("[data-qr] path").getAttribute("d"))?.length).toBeGreaterThan(1_000);
  await picture(page, "totp");
  const secret = ((await page.locator("[data-secret]").textContent()) ?? "").replaceAll(" ", "");
  await submit(page, { "Code of your app": "000000" });
  await page.getByRole("alert").waitFor();
  const used = await totpOf(secret);
  await submit(page, { "Code of your app": used });

  await seen(page, "Your recovery codes");
  await picture(page, "recovery-codes");
  const codes = await page.locator("[data-codes] li").allTextContents();
  expect(codes).toHaveLength(10);
  await press(page, "I have stored them");
  await seen(page, "10 recovery codes are left.");
  await picture(page, "security");
  return { page, email, secret, used, codes };
}

/** Signs out and in again, up to the challenge. */
async function signInAgain(page: Page, email: string): Promise<void> {
  await press(page, "Back to your account");
  await press(page, "Sign out");
  await seen(page, "Welcome back");
  await submit(page, { Email: email, Password: PASSWORD });
  await seen(page, "One more step");
}

test("a user enrols, signs in with the app, and with a recovery code", async () => {
  const { page, email, secret, used, codes } = await enrolled();

  await signInAgain(page, email);
  await picture(page, "challenge");
  await submit(page, { "Code of your app": used });
  await page.getByRole("alert").waitFor();
  await submit(page, { "Code of your app": await totpOf(secret, 1) });
  await seen(page, "verified");

  await press(page, "Settings");
  await seen(page, "10 recovery codes are left.");
  await signInAgain(page, email);
  // A reload starts over.
  await page.reload();
  await seen(page, "Welcome back");
  await submit(page, { Email: email, Password: PASSWORD });
  await press(page, "Use a recovery code");
  await submit(page, { "Recovery code": codes[7] ?? "" });
  await seen(page, "verified");
  expect(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))).not.toContain(secret);
  await press(page, "Settings");
  await seen(page, "9 recovery codes are left.");
  await page.context().close();
});

test("a change that needs a fresh session asks in a dialog, and goes on", async () => {
  const { page, codes } = await enrolled();
  let refusals = 1;
  await page.route("**/api/auth/factors/recovery-codes", async (route) => {
    if (route.request().method() !== "POST" || !refusals--) return route.continue();
    const headers = { "access-control-allow-origin": new URL(app.url).origin, "access-control-allow-credentials": "true" };
    const json = { error: "REAUTHENTICATION_REQUIRED", message: "Sign in again.", statusCode: 403 };
    return route.fulfill({ status: 403, headers, json });
  });

  await press(page, "New recovery codes");
  await seen(page, "Is it you?");
  await picture(page, "reauthenticate");
  await press(page, "Use a recovery code");
  await page.getByLabel("Recovery code", { exact: true }).fill(codes[0] ?? "");
  await page.locator("dialog button.primary").click();

  await seen(page, "Your recovery codes");
  expect(await page.locator("[data-codes] li").allTextContents()).not.toContain(codes[1]);
  await press(page, "I have stored them");
  await press(page, "Turn off");
  await seen(page, "off");
  await page.context().close();
});
