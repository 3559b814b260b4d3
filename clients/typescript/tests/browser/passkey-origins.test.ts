// In Chromium with an authenticator in software: passkeys on pages of other origins and in frames, and where two-step sign-in is
// required. The example app is served under the origins of the test.
import { type Browser, type BrowserContext, chromium, type Frame, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type App, CHROMIUM, picture, seen, startApp, submit, visit } from "../support/app.js";
import { codeIn, mailTo, newEmail, PASSWORD } from "../support/people.js";
import { type Service, startService } from "../support/service.js";
import { addAuthenticator, autofillsOf, countAutofills, offered, type VirtualAuthenticator } from "../support/virtual-authenticator.js";

/** Origin that the service allows to use passkeys. */
const OWN = "http://localhost:4321";
/** Origin of the same site, which browsers let use them. */
const OTHER = "http://localhost:4322";
/** Origin of another site. */
const FOREIGN = "http://127.0.0.1:4321";

const press = (page: Page, name: string): Promise<void> => page.getByText(name, { exact: true }).click();

let browser: Browser;
let context: BrowserContext;
let service: Service;
let app: App;
beforeAll(async () => {
  service = await startService({ "passkeys.origins": JSON.stringify([OWN]), "auth.require_email_verification": "true", "auth.second_factor": "required" });
  // The responses of this test come from no address, and so count as from outside of this machine.
  browser = await chromium.launch({ ...CHROMIUM, args: [...CHROMIUM.args, "--disable-features=LocalNetworkAccessChecks"] });
  app = await startApp(service.url);
});
afterAll(async () => {
  await app.stop();
  await browser.close();
  await service.stop();
});
beforeEach(async () => {
  context = await browser.newContext();
  await countAutofills(context);
  await context.route(/:432[12]\//, async (route) => {
    const { pathname } = new URL(route.request().url());
    const allow = pathname === "/allowed" ? 'allow="publickey-credentials-get *"' : "";
    if (["/allowed", "/refused"].includes(pathname)) {
      return route.fulfill({ contentType: "text/html", body: `<iframe ${allow} src="${OWN}/" width="600" height="800"></iframe>` });
    }
    return route.fulfill({ response: await route.fetch({ url: app.url.slice(0, -1) + pathname }) });
  });
});
afterEach(() => context.close());

/** Page of a new user with a passkey, who signed out. The enrolment of the passkey was required. */
async function enrolled(): Promise<{ page: Page; device: VirtualAuthenticator }> {
  const email = newEmail();
  const page = await visit(context, `${OWN}/#sign-up`);
  const device = await addAuthenticator(page);
  await submit(page, { Name: "Ada Lovelace", Email: email, Password: PASSWORD });
  await submit(page, { Code: codeIn(await mailTo(service.url, email)) });
  await seen(page, "Use a passkey instead");
  await picture(page, "passkey-enrolment");
  await press(page, "Use a passkey instead");
  await seen(page, "Your recovery codes");
  await press(page, "I have stored them");
  await seen(page, "10 recovery codes are left.");
  await device.confirms(false);
  const before = await autofillsOf(page);
  await press(page, "Back to your account");
  await press(page, "Sign out");
  await offered(page, before);
  return { page, device };
}

/** Paths of the calls of a page below those of passkeys, with the status of the response. */
function answersOf(page: Page): string[] {
  const answers: string[] = [];
  page.on("response", (response) => {
    const [, call] = new URL(response.url()).pathname.split("/api/auth/passkeys/");
    if (call && response.request().method() === "POST") answers.push(`${call} ${response.status()}`);
  });
  return answers;
}

test("a passkey can be the second factor that a sign-in requires, and then signs in alone", async () => {
  const { page, device } = await enrolled();
  await device.confirms(true);
  await press(page, "Sign in with a passkey");
  await seen(page, "verified");
});

describe("another origin", () => {
  test("of the same site is refused by the service", async () => {
    const { page, device } = await enrolled();
    await page.goto(`${OTHER}/`);
    await offered(page);
    const answers = answersOf(page);
    await device.confirms(true);
    await press(page, "Sign in with a passkey");

    await page.getByRole("alert").waitFor();
    expect(answers).toContain("sign-in 401");
    await seen(page, "Welcome back");
  });

  test("of another site is refused by the browser", async () => {
    const { page, device } = await enrolled();
    await page.goto(`${FOREIGN}/`);
    await seen(page, "Sign in with a passkey");
    const answers = answersOf(page);
    await device.confirms(true);
    await press(page, "Sign in with a passkey");

    await seen(page, "Passkeys cannot be used here. Use another browser or device. Passkeys need https, or localhost, and an origin that the service allows.");
    expect(answers).not.toContain("sign-in 401");
    expect(answers).not.toContain("sign-in 200");
  });
});

describe("a frame on a page of another origin", () => {
  test("may not use passkeys", async () => {
    const { page, device } = await enrolled();
    await page.goto(`${OTHER}/refused`);
    const answers = answersOf(page);
    await device.confirms(true);
    const button = page.frameLocator("iframe").getByText("Sign in with a passkey");
    await button.click();

    await expect.poll(() => button.isEnabled()).toBe(true);
    expect(answers.filter((one) => one.startsWith("sign-in"))).toEqual([]);
    await page.frameLocator("iframe").getByText("Welcome back").waitFor();
  });

  test("that the page allows to use them is refused by the service", async () => {
    const { page, device } = await enrolled();
    await page.goto(`${OTHER}/allowed`);
    const answers = answersOf(page);
    const frame = page.frameLocator("iframe");
    await frame.getByText("Sign in with a passkey").waitFor();
    await offered(page.frames()[1] as Frame);
    await device.confirms(true);
    await frame.getByText("Sign in with a passkey").click();

    await frame.getByRole("alert").waitFor();
    expect(answers).toContain("sign-in 401");
    await frame.getByText("Welcome back").waitFor();
  });
});
