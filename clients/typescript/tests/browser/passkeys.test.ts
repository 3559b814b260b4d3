// In Chromium with authenticators in software: passkeys in the example app.
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { type App, openBrowser, picture, seen, startApp, submit, visit } from "../support/app.js";
import { codeIn, mailTo, must, newEmail, PASSWORD, serverClient } from "../support/people.js";
import { addAuthenticator, autofillsOf, countAutofills, offered, type VirtualAuthenticator } from "../support/virtual-authenticator.js";

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
beforeEach(async () => {
  context = await browser.newContext();
  await countAutofills(context);
});
afterEach(() => context.close());

const press = (page: Page, name: string): Promise<void> => page.getByText(name, { exact: true }).click();
const rows = (page: Page) => page.locator("[data-passkeys] li");

/** Page of a new user in the settings, with an authenticator. */
async function member(url = app.url): Promise<{ page: Page; email: string; device: VirtualAuthenticator }> {
  const email = newEmail();
  const page = await visit(context, `${url}#sign-up`);
  const device = await addAuthenticator(page);
  await submit(page, { Name: "Ada Lovelace", Email: email, Password: PASSWORD });
  await submit(page, { Code: codeIn(await mailTo(inject("code"), email)) });
  await seen(page, "verified");
  await press(page, "Settings");
  await seen(page, "Add a passkey");
  return { page, email, device };
}

/** The same with a passkey. */
async function equipped(): Promise<{ page: Page; email: string; device: VirtualAuthenticator }> {
  const user = await member();
  await press(user.page, "Add a passkey");
  await rows(user.page).waitFor();
  return user;
}

/** Signs out in the settings; no user confirms any more. */
async function signOut(page: Page, ...devices: VirtualAuthenticator[]): Promise<void> {
  for (const device of devices) await device.confirms(false);
  const before = await autofillsOf(page);
  await press(page, "Back to your account");
  await press(page, "Sign out");
  await offered(page, before);
}

/** Requests of a page to the service for its passkeys. */
function callsOf(page: Page): string[] {
  const calls: string[] = [];
  page.on("request", (request) => {
    const [, call] = new URL(request.url()).pathname.split("/api/auth/passkeys/");
    if (call) calls.push(call);
  });
  return calls;
}

test("a user adds a passkey, names it, and signs in with it by the button", async () => {
  const { page, device } = await equipped();
  await picture(page, "passkeys");
  await page.setViewportSize({ width: 360, height: 740 });
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "passkeys-phone");
  await press(page, "Rename");
  await picture(page, "passkey-name-phone");
  await page.getByLabel("Name of the passkey").fill("My phone");
  await press(page, "Save");
  await rows(page).getByText("My phone").waitFor();

  await signOut(page, device);
  await picture(page, "passkey-sign-in-phone");
  await device.confirms(true);
  await press(page, "Sign in with a passkey");

  await seen(page, "verified");
  await press(page, "Settings");
  await rows(page).getByText("last used").waitFor();
});

describe("the autofill", () => {
  test("offers a passkey with new options after 8 minutes, and it signs in", async () => {
    const { page, device } = await equipped();
    await signOut(page, device);
    await page.clock.install();
    await page.reload();
    await offered(page);
    const calls = callsOf(page);
    await page.clock.fastForward("07:59");
    expect(calls).toEqual([]);

    await device.confirms(true);
    await page.clock.fastForward("00:02");

    await seen(page, "verified");
    expect(calls.slice(0, 2)).toEqual(["authentication-options", "sign-in"]);
  });

  test("waits beside the other ways in, and ends with the form", async () => {
    const { page, email, device } = await equipped();
    await signOut(page, device);
    await submit(page, { Email: email, Password: PASSWORD });
    await seen(page, "verified");
    // The request of the form would be in the way of this one.
    await device.confirms(true);
    await press(page, "Settings");
    await press(page, "Remove");
    await seen(page, "Add a passkey");
    await expect.poll(() => rows(page).count()).toBe(0);
    await press(page, "Add a passkey");
    await rows(page).waitFor();
  });
});

test("a passkey is the second factor, and confirms a change", async () => {
  const { page, email, device } = await equipped();
  await press(page, "Turn on with your passkey");
  await seen(page, "Your recovery codes");
  await press(page, "I have stored them");
  await seen(page, "10 recovery codes are left.");
  // The session has shown one factor, and a change of factors needs both.
  await press(page, "Remove");
  await seen(page, "Is it you?");
  await picture(page, "passkey-reauthenticate");
  await press(page, "Use your passkey");
  await page.locator("[data-passkeys]").getByRole("alert").waitFor(); // it is the last second factor

  await signOut(page, device);
  await submit(page, { Email: email, Password: PASSWORD });
  await seen(page, "One more step");
  await picture(page, "passkey-challenge");
  await press(page, "Use a recovery code");
  await press(page, "Use a passkey");
  await device.confirms(true);
  await press(page, "Use your passkey");
  await seen(page, "verified");
});

describe("a conditional registration, after a sign-in by password", () => {
  test("that the browser refuses is no error, and the user is signed in", async () => {
    const email = newEmail();
    const page = await visit(context, `${app.url}#sign-up`);
    await submit(page, { Name: "Ada Lovelace", Email: email, Password: PASSWORD });
    await submit(page, { Code: codeIn(await mailTo(inject("code"), email)) });
    await press(page, "Sign out");
    await seen(page, "Welcome back");
    const calls = callsOf(page);
    await submit(page, { Email: email, Password: PASSWORD });

    await seen(page, "verified");
    await expect.poll(() => calls).toContain("registration-options");
    await press(page, "Settings");
    await seen(page, "Add a passkey");
    expect(await rows(page).count()).toBe(0);
  });

  // Chromium upgrades with its own password manager alone, which no test has. Its part is played here: the authenticator makes
  // the passkey at once, and says that it saw no user.
  test("that the browser makes needs no user, and its passkey signs in", async () => {
    const { page, email, device } = await member();
    await page.addInitScript(() => {
      const { credentials } = navigator;
      const create = credentials.create.bind(credentials);
      credentials.create = ({ mediation, ...options }: CredentialCreationOptions & { mediation?: string } = {}) => {
        (globalThis as { mediation?: string | undefined }).mediation = mediation;
        return create(options);
      };
    });
    await page.reload();
    await signOut(page);
    await device.isSilent(true);
    await submit(page, { Email: email, Password: PASSWORD });
    await seen(page, "verified");
    await expect.poll(() => device.ids()).toHaveLength(1);
    expect(await page.evaluate("mediation")).toBe("conditional");
    await press(page, "Settings");
    await rows(page).waitFor();

    await device.isSilent(false);
    await signOut(page, device);
    await device.confirms(true);
    await press(page, "Sign in with a passkey");
    await seen(page, "verified");
  });
});

describe("a passkey that was removed", () => {
  test("in the list leaves the device, and its row", async () => {
    const { page, device } = await equipped();
    expect(await device.ids()).toHaveLength(1);
    await press(page, "Remove");

    await expect.poll(() => rows(page).count()).toBe(0);
    await expect.poll(() => device.ids()).toEqual([]);
    await press(page, "Back to your account");
    await press(page, "Sign out");
    await press(page, "Sign in with a passkey");
    await seen(page, "Welcome back");
  });

  test("elsewhere is unknown at the next sign-in, and leaves the device then", async () => {
    const { page, email, device } = await equipped();
    await signOut(page, device);
    const { auth } = serverClient(inject("code"));
    must(await auth.signInWithPassword({ email, password: PASSWORD }));
    must(await auth.passkeys.remove(must(await auth.passkeys.list()).passkeys[0]?.id ?? ""));
    expect(await device.ids()).toHaveLength(1);

    await device.confirms(true);
    await press(page, "Sign in with a passkey");

    await page.getByRole("alert").waitFor();
    await expect.poll(() => device.ids()).toEqual([]);
  });
});

test("of two authenticators each has its passkey, and either signs in", async () => {
  const { page, device } = await equipped();
  const key = await addAuthenticator(page, "usb");
  await device.confirms(false);
  await press(page, "Add a passkey");
  await expect.poll(() => rows(page).count()).toBe(2);
  expect([await device.ids(), await key.ids()].map(({ length }) => length)).toEqual([1, 1]);
  // One that has a passkey of the account makes no second.
  await press(page, "Add a passkey");
  await page.locator("[data-passkeys]").getByRole("alert").waitFor();

  for (const [one, other] of [[key, device], [device, key]] as const) {
    await signOut(page, one, other);
    await one.confirms(true);
    await press(page, "Sign in with a passkey");
    await seen(page, "verified");
    await press(page, "Settings");
    await expect.poll(() => rows(page).count()).toBe(2);
  }
  // Removing one leaves the other.
  await page.locator("[data-passkeys] li").first().getByText("Remove").click();
  await expect.poll(() => rows(page).count()).toBe(1);
  expect([await device.ids(), await key.ids()].map(({ length }) => length)).toEqual([0, 1]);
});

test("an authenticator that does not verify its user adds nothing, and signs no one in", async () => {
  const { page, device } = await equipped();
  const calls = callsOf(page);
  await signOut(page, device);
  await device.verifies(false);
  await device.confirms(true);
  await press(page, "Sign in with a passkey");
  await expect.poll(() => page.getByText("Sign in with a passkey").isEnabled()).toBe(true);
  expect(calls).not.toContain("sign-in");
  expect(await page.getByRole("alert").isVisible()).toBe(false);

  // One that lies about it is refused by the service.
  await device.verifies(true);
  await device.isSilent(true);
  await press(page, "Sign in with a passkey");
  await page.getByRole("alert").waitFor();
  expect(calls).toContain("sign-in");
});
