// Ways through the pages against the running service, by keyboard alone, with script and without, on both engines.
import type { ChildProcess } from "node:child_process";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openBrowser, startApp as startBrowserApp } from "../../../../clients/typescript/tests/support/app.js";
import { codeIn, linkIn, mailTo, newEmail, PASSWORD } from "../../../../clients/typescript/tests/support/people.js";
import { decide, sayWho, startProvider } from "../../../../clients/typescript/tests/support/provider.js";
import { type Service, startService } from "../../../../clients/typescript/tests/support/service.js";
import { totpOf } from "../../../../clients/typescript/tests/support/totp.js";
import { addAuthenticator } from "../../../../clients/typescript/tests/support/virtual-authenticator.js";
import { type App, startApp } from "./app.js";
import { ALL, type Engine, startStorage, type Storage } from "./combinations.js";
import { endFlow, lateAddress, SECRET } from "./late.js";
import { newTab, press, send, shown, type } from "./person.js";

let browser: Browser;
let app: App;
let storages: Storage[];
let engines: Record<Engine, Services>;
let service: Service;
let linked: Service;
beforeAll(async () => {
  const [sqlite, postgresql] = await Promise.all([startStorage("SQLite"), startStorage("PostgreSQL")]);
  storages = [sqlite, postgresql];
  [browser, app] = await Promise.all([openBrowser(), startApp()]);
  const [onSqlite, onPostgresql] = await Promise.all([startServices(sqlite), startServices(postgresql)]);
  engines = { SQLite: onSqlite, PostgreSQL: onPostgresql };
  ({ service, linked } = onSqlite);
});
afterAll(async () => {
  const services = Object.values(engines);
  for (const { provider } of services) provider.kill();
  await Promise.all([browser.close(), app.stop(), ...services.flatMap(({ service, linked }) => [service.stop(), linked.stop()])]);
  await Promise.all(storages.map((storage) => storage.stop()));
});

/** Services on one engine, one with codes and a provider, one with links. */
interface Services {
  service: Service;
  linked: Service;
  provider: ChildProcess;
}

async function startServices(storage: Storage): Promise<Services> {
  const verified = { "auth.require_email_verification": "true", "server.secret": SECRET };
  const [service, linked] = await Promise.all([
    startService({ ...verified, ...storage.settings() }),
    startService({ ...verified, ...storage.settings(), "auth.verify_email_method": "link" }),
  ]);
  return { service, linked, provider: await startProvider(service.url) };
}

/** Signs up at the pages, up to the page about the mail. */
async function signUp(page: Page, url: string): Promise<string> {
  const email = newEmail();
  await page.goto(url);
  await shown(page, "Create an account");
  await send(page, { "Name (optional)": "Ada Lovelace", "Email address": email, Password: PASSWORD }, "Create account");
  await shown(page, "Check your mail");
  return email;
}

/** Makes an account at the service with codes, and stays signed in at its pages. */
async function newAccount(page: Page): Promise<string> {
  const email = await signUp(page, `${service.url}/auth/sign-up`);
  await send(page, { Code: codeIn(await mailTo(service.url, email)) }, "Verify address");
  await shown(page, "Your account");
  return email;
}

async function signOut(page: Page): Promise<void> {
  await page.goto(`${service.url}/auth/sign-out`);
  await shown(page, "Sign out?");
  await press(page, "Sign out");
  await shown(page, "You are signed out");
}

/** Waits for the page after the end of a flow, and looks where its links lead. */
async function saysToStartAgain(page: Page): Promise<void> {
  await shown(page, "Start again in the app");
  await page.getByText("This page has expired, or was opened in another browser. Go back to the app and start from there.").waitFor();
  const addresses = await page.locator("a[href], form").evaluateAll((all) =>
    all.map((one) => (one instanceof HTMLAnchorElement ? one.href : (one as HTMLFormElement).action)),
  );
  expect([page.url(), ...addresses].filter((address) => new URL(address).origin !== service.url)).toEqual([]);
}

describe.each(ALL)("%s", (_, engine, javaScriptEnabled) => {
  beforeAll(() => ({ service, linked } = engines[engine]));
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  beforeEach(async () => {
    complaints = [];
    context = await browser.newContext({ javaScriptEnabled, locale: "en" });
    page = await newTab(context, complaints);
  });
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });

  test("a new user signs up by code and comes back to the app", async () => {
    const visit = await app.begin(service.url, { intent: "sign-up" });
    const email = await signUp(page, visit.url);

    await send(page, { Code: "000 000" }, "Verify address");
    await page.getByText("This code does not work.").waitFor();
    await send(page, { Code: codeIn(await mailTo(service.url, email)) }, "Verify address");

    expect((await visit.finish(page)).user).toMatchObject({ email, emailVerified: true });
  });

  test("a new user signs up by link and comes back to the app", async () => {
    const visit = await app.begin(linked.url, { intent: "sign-up" });
    const email = await signUp(page, visit.url);

    await page.goto(linkIn(await mailTo(linked.url, email)));
    await shown(page, "Your address is verified");
    await press(page, /^(Sign in|Continue to .+)$/);
    await shown(page, "Sign in");
    await send(page, { "Email address": email, Password: PASSWORD }, "Sign in");

    await page.getByRole("heading", { level: 1, name: /^(The app|Your account)$/ }).waitFor();
  });

  test("a user signs in, goes back without harm, and signs out", async () => {
    const email = await newAccount(page);
    await signOut(page);
    const visit = await app.begin(service.url, { loginHint: email });
    await page.goto(visit.url);

    await send(page, { Password: PASSWORD }, "Sign in");
    expect((await visit.finish(page)).user.email).toBe(email);
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: /^(Sign in|You are signed in)$/ }).waitFor();
    expect(page.url()).toContain(service.url);

    await signOut(page);
    await page.goto(`${service.url}/auth/account`);
    await shown(page, "Sign in");
  });

  test("a second app needs one press", async () => {
    const email = await newAccount(page);
    const visit = await app.begin(service.url);

    await page.goto(visit.url);
    await press(page, `Continue as ${email}`);

    expect((await visit.finish(page)).user.email).toBe(email);
  });

  test("a user turns two-step sign-in on and signs in with a code of the app", async () => {
    const email = await newAccount(page);
    await page.goto(`${service.url}/auth/account/two-step`);
    await press(page, "Set up an authenticator app");
    await shown(page, "Set up an authenticator app");
    const secret = ((await page.locator("#secret").textContent()) ?? "").replaceAll(" ", "");
    await send(page, { "Code of the app": await totpOf(secret) }, "Confirm code");
    await shown(page, "Store your recovery codes");
    await press(page, "I have stored them");
    await shown(page, "Two-step sign-in");
    await signOut(page);

    const visit = await app.begin(service.url);
    await page.goto(visit.url);
    await send(page, { "Email address": email, Password: PASSWORD }, "Sign in");
    await shown(page, "One more step");
    await send(page, { Code: await totpOf(secret, 1) }, "Continue");

    expect((await visit.finish(page)).user.email).toBe(email);
  });

  test("a user signs in at a provider, after denying it once", async () => {
    const visit = await app.begin(service.url);
    await page.goto(visit.url);
    await press(page, "Continue with Acme");
    await sayWho(page, javaScriptEnabled ? "grace" : "hedy");
    await decide(page, "Deny");
    await shown(page, "Sign-in was cancelled");

    await press(page, "Try Acme again");
    await decide(page, "Allow");

    expect((await visit.finish(page)).user.providers).toEqual(["acme"]);
  });

  test("a sign-in in one tab leaves that of another tab good, after a wrong password too", async () => {
    const email = await newAccount(page);
    await signOut(page);
    const other = await newTab(context, complaints);
    const visits = [await app.begin(service.url), await app.begin(service.url)] as const;
    await page.goto(visits[0].url);
    await other.goto(visits[1].url);

    await send(page, { "Email address": email, Password: "not the password" }, "Sign in");
    await page.getByText("Email address or password is not right.").waitFor();
    await send(page, { Password: PASSWORD }, "Sign in");
    expect((await visits[0].finish(page)).user.email).toBe(email);
    await send(other, { "Email address": email, Password: PASSWORD }, "Sign in");

    expect((await visits[1].finish(other)).user.email).toBe(email);
  });

  test("a browser that lost its cookies in the middle starts again", async () => {
    const visit = await app.begin(service.url);
    const email = await newAccount(page);
    await signOut(page);
    await page.goto(visit.url);
    await type(page, { "Email address": email, Password: PASSWORD });
    await context.clearCookies();

    await press(page, "Sign in");
    await shown(page, "Start again in the app");
    expect(page.url()).toContain(service.url);
    await page.goto(visit.url);
    await send(page, { "Email address": email, Password: PASSWORD }, "Sign in");

    expect((await visit.finish(page)).user.email).toBe(email);
  });

  test("after the end of a flow its pages say what to do, and never lead away", async () => {
    const visit = await app.begin(service.url);
    await page.goto(visit.url);
    await shown(page, "Sign in");
    const late = await lateAddress(page);

    for (const path of ["sign-in", "sign-up", "forgot", "verify", "provider/acme", "continue"]) {
      await page.goto(late.replace("sign-in", path));
      await saysToStartAgain(page);
    }

    await page.goto(visit.url);
    await shown(page, "Sign in");
  });

  test("a form that comes after the end of its flow does nothing, and the app can begin again", async () => {
    const email = await newAccount(page);
    await signOut(page);
    const visit = await app.begin(service.url);
    await page.goto(visit.url);
    await type(page, { "Email address": email, Password: PASSWORD });
    await endFlow(page);

    await press(page, "Sign in");
    await saysToStartAgain(page);
    await page.goto(`${service.url}/auth/account`);
    await shown(page, "Sign in");
    await page.goto(visit.url);
    await send(page, { "Email address": email, Password: PASSWORD }, "Sign in");

    expect((await visit.finish(page)).user.email).toBe(email);
  });

  test("a form that comes after the end of its session is kept over the new sign-in", async () => {
    const email = await newAccount(page);
    await page.goto(`${service.url}/auth/account/profile`);
    await type(page, { "Name (optional)": "Countess Lovelace" });
    await context.clearCookies({ name: /pages/ });

    await press(page, "Save profile");
    await shown(page, "Sign in");
    await send(page, { "Email address": email, Password: PASSWORD }, "Sign in");
    await page.getByText("Press the button once more").waitFor();
    await press(page, "Save profile");

    await page.getByText("saved").waitFor();
    await page.goto(`${service.url}/auth/account`);
    await page.getByText("Countess Lovelace").first().waitFor();
  });

  test.runIf(javaScriptEnabled)("a minute before the end of a flow its page says so, and one press keeps what was typed", async () => {
    const email = await newAccount(page);
    await signOut(page);
    await page.clock.install();
    const visit = await app.begin(service.url);
    await page.goto(visit.url);
    await shown(page, "Sign in");
    const warning = page.getByText("This page expires in less than a minute.");
    await page.clock.runFor("28:50");
    expect(await warning.isVisible()).toBe(false);
    await type(page, { "Email address": email, Password: PASSWORD });

    await page.clock.runFor("00:20");
    await warning.waitFor();
    await press(page, "Stay on this page");

    await warning.waitFor({ state: "hidden" });
    await page.clock.runFor("28:50");
    expect(await warning.isVisible()).toBe(false);
    await page.clock.runFor("01:00");
    await warning.waitFor();
    await press(page, "Sign in");
    expect((await visit.finish(page)).user.email).toBe(email);
  });
});

test("an app in the browser sends its user to the pages and has the session when it is back", async () => {
  const complaints: string[] = [];
  const inBrowser = await startBrowserApp(service.url, "../../../../crates/pages/tests/browser/app-page");
  const context = await browser.newContext({ locale: "en" });
  const page = await newTab(context, complaints);
  const email = await newAccount(page);
  await signOut(page);

  await page.goto(inBrowser.url);
  await shown(page, "The app");
  await press(page, "Sign in");
  await shown(page, "Sign in");
  await send(page, { "Email address": email, Password: PASSWORD }, "Sign in");

  await page.getByText(email).waitFor();
  expect(page.url()).toBe(inBrowser.url);
  await page.reload();
  await page.getByText(email).waitFor();
  await context.close();
  await inBrowser.stop();
  expect(complaints).toEqual([]);
});

test("a user adds a passkey and signs in with it", async () => {
  const complaints: string[] = [];
  const context = await browser.newContext({ locale: "en" });
  const page = await newTab(context, complaints);
  const email = await newAccount(page);
  const authenticator = await addAuthenticator(page);
  await page.goto(`${service.url}/auth/account/passkeys`);
  await press(page, "Add a passkey");
  await page.getByText("The passkey is added.").waitFor();
  await signOut(page);

  const visit = await app.begin(service.url);
  await authenticator.confirms(false);
  await page.goto(visit.url);
  await shown(page, "Sign in");
  await authenticator.confirms(true);
  await press(page, "Sign in with a passkey");

  expect((await visit.finish(page)).user.email).toBe(email);
  await context.close();
  expect(complaints).toEqual([]);
});
