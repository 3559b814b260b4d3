// In a real browser: the server-rendered example app without scripts.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { plugIn } from "../support/authenticator.js";
import { openBrowser, picture, seen, shown, visit } from "../support/app.js";
import { codeIn, linkIn, mailTo, must, newEmail, PASSWORD, serverClient } from "../support/people.js";
import { freePort, startService } from "../support/service.js";
import { totpOf } from "../support/totp.js";

const folder = fileURLToPath(new URL("../../../../examples/server-rendered", import.meta.url));
const built = fileURLToPath(new URL("../../dist/ssr.js", import.meta.url));
let browser: Browser;
let app: ChildProcess;
let url: string;
beforeAll(async () => {
  // The app is its own process and uses the built package.
  if (!existsSync(built)) throw new Error(`${built} is missing: run npm run build first`);
  browser = await openBrowser();
  ({ child: app, at: url } = await serveAt(inject("code")));
});
/** Serves the app for a service. */
async function serveAt(serviceUrl: string): Promise<{ child: ChildProcess; at: string }> {
  const port = await freePort();
  const environment = { ...process.env, PORT: `${port}`, LATCHKEY_URL: serviceUrl };
  const child = spawn("node", ["server.mjs"], { cwd: folder, env: environment, stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout as NodeJS.ReadableStream, "data");
  return { child, at: `http://localhost:${port}/` };
}
afterAll(async () => {
  app.kill();
  await browser.close();
});

test("a user signs up, verifies, changes the profile, returns, resets, and signs out", async () => {
  const context = await browser.newContext();
  const page = await visit(context, `${url}sign-up`);
  const email = newEmail();
  await page.getByLabel("Name").fill("<b>Ada</b>");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByText("Create account").click();
  await page.getByLabel("Code").fill("000000");
  await page.getByText("Verify").click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Code").fill(codeIn(await mailTo(inject("code"), email)));
  await page.getByText("Verify").click();
  await seen(page, "Hello <b>Ada</b>");
  await page.getByLabel("Name").fill("Ada Lovelace");
  await page.getByText("Save profile").click();
  await seen(page, "Hello Ada Lovelace");
  await picture(page, "server-rendered");

  // The browser holds the cookies, and no script can read them.
  expect((await context.cookies()).map(({ name, httpOnly }) => `${name} ${httpOnly}`).sort()).toEqual([
    "latchkey-access true",
    "latchkey-refresh true",
  ]);
  await page.goto(url);
  await seen(page, "Hello Ada Lovelace");
  await page.getByText("Sign out").click();
  await seen(page, "Sign in to your account.");
  expect(await context.cookies()).toEqual([]);

  await page.getByText("Forgot your password?").click();
  await shown(page, "Forgot your password?");
  await page.getByLabel("Email").fill(email);
  await page.getByText("Send mail").click();
  await page.getByLabel("Code").fill(codeIn(await mailTo(inject("code"), email, 2)));
  await page.getByLabel("Password").fill("staple of the battery");
  await page.getByRole("button", { name: "Save" }).click();
  await seen(page, "Your password is changed. Sign in with the new one.");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill("staple of the battery");
  await page.getByRole("button", { name: "Sign in" }).click();
  await seen(page, "Hello Ada Lovelace");
  await context.close();
});

test("a user enrols an app, and signs in with a code and with a recovery code", async () => {
  const context = await browser.newContext();
  const page = await visit(context, `${url}sign-up`);
  const email = newEmail();
  const press = (name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();
  const signIn = async (): Promise<void> => {
    await page.goto(url);
    await press("Sign out");
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await press("Sign in");
    await seen(page, "One more step");
  };
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await press("Create account");
  await page.getByLabel("Code").fill(codeIn(await mailTo(inject("code"), email)));
  await press("Verify");

  await page.getByText("Settings", { exact: true }).click();
  await seen(page, "off");
  await press("Add an authenticator app");
  expect((await page.locator(".qr path").getAttribute("d"))?.length).toBeGreaterThan(1_000);
  const secret = (await page.locator(".hint code").textContent()) ?? "";
  await page.getByLabel("Code of your app").fill("000000");
  await press("Confirm");
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Code of your app").fill(await totpOf(secret));
  await press("Confirm");
  await seen(page, "Your recovery codes");
  await picture(page, "server-rendered-recovery-codes");
  const codes = await page.locator("li code").allTextContents();
  await page.getByText("I have stored them").click();
  await seen(page, "10 recovery codes are left.");

  await signIn();
  expect(await context.cookies()).toEqual([]);
  await page.getByLabel("Code of your app").fill(await totpOf(secret, 1));
  await press("Continue");
  await page.getByText("Settings", { exact: true }).waitFor();
  await signIn();
  await press("Recovery code instead");
  await page.getByLabel("Recovery code").fill(codes[0] ?? "");
  await press("Continue");
  await page.getByText("Settings", { exact: true }).click();
  await seen(page, "9 recovery codes are left.");
  await press("Turn off");
  await seen(page, "off");
  await context.close();
});

test("a passkey of another app is renamed and removed", async () => {
  const context = await browser.newContext();
  const page = await visit(context, `${url}sign-up`);
  const email = newEmail();
  const press = (name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await press("Create account");
  await page.getByLabel("Code").fill(codeIn(await mailTo(inject("code"), email)));
  await press("Verify");
  await page.getByText("Settings", { exact: true }).waitFor();
  plugIn();
  const { auth } = serverClient(inject("code"));
  must(await auth.signInWithPassword({ email, password: PASSWORD }));
  must(await auth.passkeys.register({ name: "My phone" }));
  vi.unstubAllGlobals();
  const { recoveryCodes = [] } = must(await auth.setTwoStep(true));

  // A page without a script asks for what can be typed.
  await page.goto(url);
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await press("Sign in");
  await page.getByLabel("Recovery code").fill(recoveryCodes[0] ?? "");
  await press("Continue");
  await page.getByText("Settings", { exact: true }).click();
  await page.getByLabel("Passkey").fill("My tablet");
  await press("Rename");
  await expect.poll(() => page.getByLabel("Passkey").inputValue()).toBe("My tablet");
  await picture(page, "server-rendered-passkeys");
  await press("Turn off");
  await seen(page, "off");
  await press("Remove");
  await expect.poll(() => page.getByLabel("Passkey").count()).toBe(0);
  await seen(page, "off");
  await context.close();
});

test("a user signs in by mail, sets a password, changes the address, names the session, deletes the account, and restores it", async () => {
  const context = await browser.newContext();
  const page = await visit(context, url);
  const email = newEmail();
  const press = (name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();
  const signIn = async (address: string, nth: number): Promise<void> => {
    await page.getByLabel("Email").fill(address);
    await press("Mail me a code");
    await page.getByLabel("Code").fill(codeIn(await mailTo(inject("code"), address, nth)));
    await press("Verify");
  };
  await signIn(email, 1);
  await page.getByText("Settings", { exact: true }).click();
  await page.getByLabel("New password").fill("short");
  await press("Set a password");
  await page.getByRole("alert").waitFor();
  await page.getByLabel("New password").fill(PASSWORD);
  await press("Set a password");
  await seen(page, "Your password is set.");

  const address = newEmail();
  await page.getByLabel("New address").fill(address);
  await press("Change address");
  await page.getByLabel(`Code from the mail to ${address}`).fill("000000");
  await page.getByLabel(`Code from the mail to ${email}`).fill(codeIn(await mailTo(inject("code"), email, 2)));
  await press("Confirm");
  await page.getByRole("alert").waitFor();
  await page.getByLabel(`Code from the mail to ${address}`).fill(codeIn(await mailTo(inject("code"), address)));
  await press("Confirm");
  await seen(page, "Your address is changed.");
  await page.getByLabel("Name of the session").fill("Laptop at home");
  await press("Change name");
  await page.locator("li").getByText("Laptop at home").waitFor();
  await page.locator("li").getByText("Chrome on Linux").first().waitFor();
  expect(await page.getByText("false").count()).toBe(0);
  for (const text of ["Address changed", "First password set"]) await page.locator("li").getByText(text).waitFor();
  for (const [device, width, height, colorScheme] of [["phone", 390, 844, "dark"], ["desktop", 1280, 900, "light"]] as const) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    await picture(page, `server-rendered-settings-${device}`);
  }

  const download = page.waitForEvent("download");
  await press("Download");
  expect((await download).suggestedFilename()).toBe("account.json");
  await press("Delete account");
  await press("Delete my account");
  await page.getByText("You can still have it back").waitFor();
  expect(await context.cookies()).toEqual([]);
  await signIn(address, 4);
  await press("Restore my account");
  await seen(page, `Hello ${address}`);
  await context.close();
});

test("a visitor reads the language of the browser, and may choose the other one", async () => {
  const context = await browser.newContext({ locale: "de-DE" });
  const page = await visit(context, url);
  await seen(page, "Melden Sie sich bei Ihrem Konto an.");
  await picture(page, "server-rendered-german");

  await page.getByText("English", { exact: true }).click();

  await seen(page, "Sign in to your account.");
  expect(await page.evaluate("document.documentElement.lang")).toBe("en");
  await context.close();
});

test("a link of a mail signs in the browser that asked, and another browser is asked for the code", async () => {
  const link = await serveAt(inject("link"));
  const context = await browser.newContext();
  const page = await visit(context, link.at);
  const email = newEmail();
  await page.getByLabel("Email").fill(email);
  await page.getByText("Mail me a code").click();
  await seen(page, "Check your mail");
  const mailed = linkIn(await mailTo(inject("link"), email));

  const elsewhere = await browser.newContext();
  const other = await visit(elsewhere, mailed);
  await other.getByText("The mail also has six digits").waitFor();
  await elsewhere.close();
  const opened = await visit(context, mailed);

  await seen(opened, `Hello ${email}`);
  expect(opened.url()).toBe(link.at);
  await context.close();
  link.child.kill();
});

test("a service that requires a second factor enrols an app at the sign-in", async () => {
  const service = await startService({ "auth.require_email_verification": "true", "auth.second_factor": "required" });
  const required = await serveAt(service.url);
  const context = await browser.newContext();
  const page = await visit(context, `${required.at}sign-up`);
  const email = newEmail();
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByText("Create account").click();
  await page.getByLabel("Code").fill(codeIn(await mailTo(service.url, email)));
  await page.getByText("Verify").click();

  await seen(page, "Scan this code");
  const secret = (await page.locator(".hint code").textContent()) ?? "";
  await page.getByLabel("Code of your app").fill(await totpOf(secret));
  await page.getByText("Confirm", { exact: true }).click();
  await seen(page, "Your recovery codes");
  await page.getByText("I have stored them").click();

  await seen(page, "Settings");
  await context.close();
  required.child.kill();
  await service.stop();
});
