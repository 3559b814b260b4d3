// In a real browser: sign-in, denied consent and linking at a certified OpenID provider.
import type { ChildProcess } from "node:child_process";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type App, openBrowser, picture, seen, startApp, visit } from "../support/app.js";
import { must, newUser, serverClient } from "../support/people.js";
import { decide, sayWho, startProvider } from "../support/provider.js";
import { type Service, startService } from "../support/service.js";

/** Default redirect target of the service. */
const DEFAULT_TARGET = "http://localhost:5199/";

describe("a provider", () => {
  let browser: Browser;
  let service: Service;
  let app: App;
  let provider: ChildProcess;
  beforeAll(async () => {
    service = await startService({ "auth.default_redirect_url": DEFAULT_TARGET });
    [browser, app, provider] = await Promise.all([openBrowser(), startApp(service.url), startProvider(service.url)]);
  });
  afterAll(async () => {
    provider.kill();
    await Promise.all([browser.close(), app.stop(), service.stop()]);
  });

  test("a user denies, then allows, and is signed in; a reload keeps the session", async () => {
    const page = await visit(await browser.newContext(), app.url);
    await page.getByText("Continue with acme").waitFor();
    await picture(page, "providers");
    await page.getByText("Continue with acme").click();
    await sayWho(page, "ada");
    await decide(page, "Deny");
    await seen(page, "That did not work");
    await picture(page, "provider-refused");
    expect(page.url()).toBe(app.url);

    await page.getByText("Go to sign-in").click();
    await page.getByText("Continue with acme").click();
    await decide(page, "Allow");

    await seen(page, "ada@example.org");
    await picture(page, "provider-account");
    expect(await page.locator("[data-name]").textContent()).toBe("Ada of the provider");
    expect(page.url()).toBe(app.url);
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    await page.reload();
    await seen(page, "verified");
    await page.context().close();
  });

  test("a window that was opened in the click signs in, closes, and this page knows", async () => {
    const pages = await startApp(service.url, "./window");
    const context = await browser.newContext();
    const page = await visit(context, pages.url);

    const opened = context.waitForEvent("page");
    await page.getByText("Sign in", { exact: true }).click();
    const popup = await opened;
    const closed = popup.waitForEvent("close");
    await sayWho(popup, "ada");
    await decide(popup, "Allow");
    await closed;

    await seen(page, "ada@example.org");
    expect(page.url()).toBe(pages.url);
    await page.reload();
    await seen(page, "ada@example.org");
    await context.close();
    await pages.stop();
  });

  test("signInWithOAuth begins in every variant", async () => {
    const { auth } = serverClient(service.url);
    const skipBrowserRedirect = true;

    const begun = [
      await auth.signInWithOAuth({ provider: "acme", redirectTo: app.url, skipBrowserRedirect }),
      await auth.signInWithOAuth({ provider: "acme", skipBrowserRedirect }),
      await auth.signInWithOAuth("acme", { redirectTo: app.url, skipBrowserRedirect }),
    ];

    for (const result of begun) {
      const { url = "", provider, codeVerifier } = must(result);
      expect(new URL(url).searchParams.get("client_id")).toBe("latchkey");
      expect(provider).toBe("acme");
      expect(codeVerifier).toMatch(/^[\w-]{43}$/);
    }
  });

  test("linkIdentity links to the user of the session, unlinkIdentity takes it back", async () => {
    const client = serverClient(service.url);
    const { email } = await newUser(client);
    const page = await (await browser.newContext()).newPage();
    const redirectTo = `${app.url}linked`;

    const { url = "", codeVerifier } = must(
      await client.auth.linkIdentity({ provider: "acme", redirectTo, skipBrowserRedirect: true }),
    );
    const back = page.waitForRequest((request) => request.url().startsWith(redirectTo));
    await page.goto(url);
    await sayWho(page, "grace");
    await decide(page, "Allow");
    const code = new URL((await back).url()).searchParams.get("service_code") ?? "";
    const linked = must(await client.auth.exchangeOAuthCode(code, codeVerifier));

    expect(linked.user).toMatchObject({ email, providers: ["email", "acme"] });
    expect(must(await client.auth.listIdentities()).identities).toMatchObject([
      { provider: "acme", subject: "grace", email: "grace@example.org", createdAt: expect.any(String) },
    ]);
    expect(must(await client.auth.unlinkIdentity({ provider: "acme" })).user.providers).toEqual(["email"]);
    expect((await client.auth.refreshSession()).error).toBeNull();
    await page.context().close();
  });
});
