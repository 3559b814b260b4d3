// In a real browser: the built examples for Next.js and SvelteKit. Server and browser share one session.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { openBrowser, picture, seen, visit } from "../support/app.js";
import { codeIn, linkIn, mailTo, newEmail, PASSWORD } from "../support/people.js";
import { freePort, startService } from "../support/service.js";
import { totpOf } from "../support/totp.js";
import { addAuthenticator, autofillsOf, countAutofills, offered } from "../support/virtual-authenticator.js";

const at = (path: string): string => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
const BUILT = at("clients/typescript/dist/ssr.js");
/** Build timeout in milliseconds, for a busy machine. */
const BUILD = 600_000;

/** Build and serve commands of an example; the port is in the variable `PORT`. */
const EXAMPLES = {
  nextjs: { build: ["node_modules/next/dist/bin/next", "build"], serve: ["node_modules/next/dist/bin/next", "start"] },
  sveltekit: { build: ["node_modules/vite/bin/vite.js", "build"], serve: ["examples/sveltekit/build/index.js"] },
};

describe.each(["nextjs", "sveltekit"] as const)("examples/%s", (name) => {
  let browser: Browser;
  let context: BrowserContext;
  let app: ChildProcess;
  let url: string;
  /** Serves the app for a service. */
  let serveAt: (serviceUrl: string) => Promise<{ child: ChildProcess; at: string }>;
  beforeAll(async () => {
    if (!existsSync(BUILT)) throw new Error(`${BUILT} is missing: run npm run build first`);
    const { build, serve } = EXAMPLES[name];
    const env = { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" };
    const cwd = at(`examples/${name}`);
    const command = ([program = "", ...words]: string[]): string[] => [at(program), ...words];
    execFileSync("node", command(build), { cwd, env, stdio: ["ignore", "ignore", "inherit"] });
    serveAt = async (serviceUrl) => {
      const port = await freePort();
      const at = `http://localhost:${port}/`;
      const own = { LATCHKEY_URL: serviceUrl, PORT: `${port}`, ORIGIN: at.slice(0, -1) };
      const child = spawn("node", command(serve), { cwd, env: { ...env, ...own }, stdio: ["ignore", "ignore", "inherit"] });
      for (const deadline = Date.now() + 60_000; !(await fetch(at).then(({ ok }) => ok, () => false)); ) {
        if (Date.now() > deadline || child.exitCode !== null) throw new Error(`examples/${name} did not start`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      return { child, at };
    };
    ({ child: app, at: url } = await serveAt(inject("code")));
    browser = await openBrowser();
  }, BUILD);
  afterAll(async () => {
    await browser.close();
    app.kill();
    if (app.exitCode === null) await once(app, "exit");
  });
  beforeEach(async () => {
    context = await browser.newContext();
  });
  afterEach(() => context.close());

  /** Calls of the context's pages to the app's route. */
  function callsOf(): string[] {
    const calls: string[] = [];
    context.on("request", (request) => {
      if (new URL(request.url()).pathname.startsWith("/auth/")) calls.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    return calls;
  }

  /** HTML that the server renders for the browser's cookies. */
  const rendered = async (): Promise<string> => (await context.request.get(url)).text();

  async function signUp(): Promise<{ page: Page; email: string }> {
    const page = await visit(context, url);
    const email = newEmail();
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByText("Create an account").click();
    await page.getByLabel("Code from your mail").fill(codeIn(await mailTo(inject("code"), email)));
    await page.getByText("Verify").click();
    await seen(page, `Hello ${email}`);
    return { page, email };
  }

  test("a sign-up in the page is known to the server; a reload shows it at once without a request", async () => {
    expect(await rendered()).toContain("Welcome");
    const { page, email } = await signUp();

    const cookies = await context.cookies();
    expect(cookies.map(({ name: cookie, httpOnly, sameSite }) => `${cookie} ${httpOnly} ${sameSite}`).sort()).toEqual([
      "latchkey-access true Lax",
      "latchkey-refresh true Lax",
    ]);
    const html = await rendered();
    expect(html).toContain(email);
    expect(html).not.toContain("Welcome");
    expect(html).not.toContain(cookies.find((one) => one.name === "latchkey-refresh")?.value);
    const calls = callsOf();
    await page.reload();
    await seen(page, `Hello ${email}`);
    await page.waitForLoadState("networkidle");
    expect(calls).toEqual([]);
    await picture(page, name);

    await page.getByLabel("Name").fill("Ada Lovelace");
    await page.getByText("Save").click();
    await seen(page, "Hello Ada Lovelace");
    expect(await rendered()).toContain("Ada Lovelace");
  });

  test("a session whose access token is gone is refreshed before the page renders", async () => {
    const { page, email } = await signUp();
    await context.clearCookies({ name: "latchkey-access" });
    const before = (await context.cookies())[0]?.value;

    await page.reload();

    await seen(page, `Hello ${email}`);
    const after = await context.cookies();
    expect(after).toHaveLength(2);
    expect(after.find((one) => one.name === "latchkey-refresh")?.value).not.toBe(before);
  });

  test("a sign-out in one tab reaches the other and the server", async () => {
    const { page } = await signUp();
    const other = await visit(context, url);
    await other.getByText("Sign out").waitFor();

    await page.getByText("Sign out").click();

    await seen(other, "Welcome");
    await expect.poll(async () => (await context.cookies()).length).toBe(0);
    expect(await rendered()).toContain("Welcome");
  });

  test("an app is enrolled, and its code is asked at sign-in; the server sees the session after it", async () => {
    const { page, email } = await signUp();
    const press = (label: string): Promise<void> => page.getByRole("button", { name: label, exact: true }).click();
    await press("Settings");
    await press("Add an authenticator app");
    expect((await page.locator("[data-qr] path").getAttribute("d"))?.length).toBeGreaterThan(1_000);
    const secret = (await page.locator("[data-secret]").textContent()) ?? "";
    await page.getByLabel("Code of your app").fill(await totpOf(secret));
    await press("Confirm");
    await seen(page, "Your recovery codes");
    await picture(page, `${name}-security`);
    const codes = await page.locator("li code").allTextContents();
    await press("I have stored them");

    await press("Sign out");
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await press("Sign in");
    await page.getByLabel("Code of your app").fill("000000");
    await press("Continue");
    await page.getByRole("alert").waitFor();
    expect(await rendered()).not.toContain(email);
    await page.getByLabel("Code of your app").fill(await totpOf(secret, 1));
    await press("Continue");
    await seen(page, `Hello ${email}`);
    expect(await rendered()).toContain(email);

    await press("Sign out");
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await press("Sign in");
    await press("Recovery code instead");
    await page.getByLabel("Recovery code").fill(codes[2] ?? "");
    await press("Continue");
    await seen(page, `Hello ${email}`);
  });

  test("a passkey is added, signs in from the autofill and by the button, and is the second factor", async () => {
    await countAutofills(context);
    const { page, email } = await signUp();
    const device = await addAuthenticator(page);
    const press = (label: string): Promise<void> => page.getByRole("button", { name: label, exact: true }).click();
    await press("Settings");
    await press("Add a passkey");
    await page.getByLabel("Passkey", { exact: true }).fill("My phone");
    await press("Rename");
    await expect.poll(() => device.ids()).toHaveLength(1);
    await picture(page, `${name}-passkeys`);
    await page.setViewportSize({ width: 360, height: 740 });
    await page.emulateMedia({ colorScheme: "dark" });
    await picture(page, `${name}-passkeys-phone`);

    await press("Turn on with your passkey");
    await seen(page, "Your recovery codes");
    await press("I have stored them");
    await device.confirms(false);
    const before = await autofillsOf(page);
    await press("Sign out");
    await offered(page, before);
    await picture(page, `${name}-sign-in-phone`);
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await press("Sign in");
    await page.getByText("One more step").waitFor();
    await device.confirms(true);
    await press("Use your passkey");
    await seen(page, `Hello ${email}`);

    await device.confirms(false);
    const later = await autofillsOf(page);
    await press("Sign out");
    await offered(page, later);
    await device.confirms(true);
    await press("Sign in with a passkey");
    await seen(page, `Hello ${email}`);
    expect(await rendered()).toContain(email);

    await press("Sign out");
    // From the autofill, because the user is there when the form appears.
    await seen(page, `Hello ${email}`);
    await press("Settings");
    await expect.poll(() => page.getByLabel("Passkey", { exact: true }).inputValue()).toBe("My phone");
  });

  test("a user signs in by mail, sets a password, changes the address, names the session, deletes the account, and restores it", async () => {
    const page = await visit(context, url);
    const email = newEmail();
    const press = (label: string): Promise<void> => page.getByRole("button", { name: label, exact: true }).click();
    const signIn = async (address: string, nth: number): Promise<void> => {
      await page.getByLabel("Email").fill(address);
      await press("Mail me a code");
      await page.getByLabel("Code from your mail").fill(codeIn(await mailTo(inject("code"), address, nth)));
      await press("Verify");
    };
    await signIn(email, 1);
    await press("Settings");
    await page.locator("[data-card=activity] li").first().waitFor();
    await press("Set a password");
    await page.getByLabel("New password").fill(PASSWORD);
    await press("Save");
    await seen(page, "Your password is set.");

    const address = newEmail();
    await press("Change address");
    await page.getByLabel("New address").fill(address);
    await press("Send codes");
    await page.getByLabel(`Code from the mail to ${address}`).fill(codeIn(await mailTo(inject("code"), address)));
    await page.getByLabel(`Code from the mail to ${email}`).fill(codeIn(await mailTo(inject("code"), email, 2)));
    await press("Confirm");
    await seen(page, "Your address is changed.");
    expect(await page.locator("#who").textContent()).toBe(address);
    await press("Change name");
    await page.getByLabel("Name of the session").fill("Laptop at home");
    await page.keyboard.press("Enter");
    await page.locator("[data-card=sessions]").getByText("Laptop at home").waitFor();
    await page.locator("[data-card=activity]").getByText("Address changed").waitFor();
    for (const [device, width, height, colorScheme] of [["phone", 390, 844, "dark"], ["desktop", 1280, 900, "light"]] as const) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      await picture(page, `${name}-settings-${device}`);
    }

    const download = page.waitForEvent("download");
    await press("Download");
    expect((await download).suggestedFilename()).toBe("account.json");
    await press("Delete account");
    await press("Delete my account");
    await page.getByText("you can have it back").waitFor();
    expect(await context.cookies()).toEqual([]);
    await signIn(address, 4);
    await press("Restore my account");
    await seen(page, `Hello ${address}`);
  });

  test("a link of a mail signs in the browser that asked, and another browser asks for the code", async () => {
    const link = await serveAt(inject("link"));
    const page = await visit(context, link.at);
    const email = newEmail();
    await page.getByLabel("Email").fill(email);
    await page.getByRole("button", { name: "Mail me a code" }).click();
    await seen(page, "Check your mail");
    const mailed = linkIn(await mailTo(inject("link"), email));

    const elsewhere = await browser.newContext();
    const other = await visit(elsewhere, mailed);
    await other.getByText("The mail also has six digits").waitFor();
    await elsewhere.close();
    const opened = await visit(context, mailed);

    await seen(opened, `Hello ${email}`);
    expect(opened.url()).toBe(link.at);
    await seen(page, `Hello ${email}`);
    link.child.kill();
  });

  test("a service that requires a second factor enrols an app at the sign-in", async () => {
    const service = await startService({ "auth.require_email_verification": "true", "auth.second_factor": "required" });
    const required = await serveAt(service.url);
    const page = await visit(context, required.at);
    const email = newEmail();
    await page.getByLabel("Email").fill(email);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByText("Create an account").click();
    await page.getByLabel("Code from your mail").fill(codeIn(await mailTo(service.url, email)));
    await page.getByText("Verify").click();

    await seen(page, "Scan this code");
    const secret = (await page.locator("[data-secret]").textContent()) ?? "";
    await picture(page, `${name}-enrolment`);
    await page.getByLabel("Code of your app").fill(await totpOf(secret));
    await page.getByRole("button", { name: "Confirm" }).click();
    await seen(page, "Your recovery codes");
    await page.getByText("I have stored them").click();

    await seen(page, `Hello ${email}`);
    required.child.kill();
    await service.stop();
  });

  test("the server renders the language of the visitor, who may choose the other one", async () => {
    const german = await browser.newContext({ locale: "de-DE" });
    expect(await (await german.request.get(url, { headers: { "accept-language": "de-DE,de;q=0.9" } })).text()).toContain("Willkommen");
    const page = await visit(german, url);
    await seen(page, "Willkommen");
    await page.getByText("English").click();
    await seen(page, "Welcome");

    await page.reload();

    await seen(page, "Welcome");
    expect(await page.evaluate("document.documentElement.lang")).toBe("en");
    await german.close();
  });

  test("another site can neither write nor read through the route", async () => {
    const headers = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    const answer = await context.request.post(`${url}auth/api/auth/sessions`, { headers, data: { email: "a", password: "b" } });

    expect(answer.status()).toBe(403);
    expect((await answer.json()).error).toBe("FORBIDDEN");
    expect((await context.request.get(`${url}auth/api/auth/users`)).status()).toBe(404);
  });
});
