// In a real browser: the server-rendered example app without scripts.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { plugIn } from "../support/authenticator.js";
import { openBrowser, picture, seen, visit } from "../support/app.js";
import { codeIn, mailTo, must, newEmail, PASSWORD, serverClient } from "../support/people.js";
import { freePort } from "../support/service.js";
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
  const port = await freePort();
  url = `http://localhost:${port}/`;
  const environment = { ...process.env, PORT: `${port}`, LATCHKEY_URL: inject("code") };
  app = spawn("node", ["server.mjs"], { cwd: folder, env: environment, stdio: ["ignore", "pipe", "inherit"] });
  await once(app.stdout as NodeJS.ReadableStream, "data");
});
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
  await seen(page, "Sign in");
  expect(await context.cookies()).toEqual([]);

  await page.getByText("Forgot your password?").click();
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

  await page.getByText("Security and sessions").click();
  await seen(page, "Two-step sign-in is off");
  await press("Add an authenticator app");
  expect((await page.locator("svg path").getAttribute("d"))?.length).toBeGreaterThan(1_000);
  const secret = (await page.locator("code").textContent()) ?? "";
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
  await page.getByText("Security and sessions").waitFor();
  await signIn();
  await press("Recovery code instead");
  await page.getByLabel("Recovery code").fill(codes[0] ?? "");
  await press("Continue");
  await page.getByText("Security and sessions").click();
  await seen(page, "9 recovery codes are left.");
  await press("Turn off");
  await seen(page, "Two-step sign-in is off");
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
  await page.getByText("Security and sessions").waitFor();
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
  await page.getByText("Security and sessions").click();
  await page.getByLabel("Passkey").fill("My tablet");
  await press("Rename");
  await expect.poll(() => page.getByLabel("Passkey").inputValue()).toBe("My tablet");
  await picture(page, "server-rendered-passkeys");
  await press("Turn off");
  await seen(page, "Two-step sign-in is off");
  await press("Remove");
  await expect.poll(() => page.getByLabel("Passkey").count()).toBe(0);
  await seen(page, "Two-step sign-in is off");
  await context.close();
});
