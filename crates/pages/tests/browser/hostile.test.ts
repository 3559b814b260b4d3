// Texts of others that try to be markup or script: every page shows them as text, and the policy has nothing to refuse; on both
// engines, with script and without.
import type { ChildProcess } from "node:child_process";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openBrowser } from "../../../../clients/typescript/tests/support/app.js";
import { must, newEmail, PASSWORD, serverClient } from "../../../../clients/typescript/tests/support/people.js";
import { startProvider } from "../../../../clients/typescript/tests/support/provider.js";
import { type Service, startService } from "../../../../clients/typescript/tests/support/service.js";
import { CROSSED, startStorage, type Storage } from "./combinations.js";
import { CORPUS, guard } from "./corpus.js";
import { asAdmin } from "./operator.js";
import { newTab, press, send, shown } from "./person.js";

/** Pages that show something of the account's texts or of its browsers. */
const ACCOUNT = ["", "/profile", "/sessions", "/activity"];

describe.each(CROSSED)("%s", (_, engine, javaScriptEnabled) => {
  let browser: Browser;
  let storage: Storage;
  let service: Service;
  let provider: ChildProcess;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  beforeAll(async () => {
    [browser, storage] = await Promise.all([openBrowser(), startStorage(engine)]);
    service = await startService(storage.settings());
    provider = await startProvider(service.url);
  });
  afterAll(async () => {
    provider.kill();
    await Promise.all([browser.close(), service.stop()]);
    await storage.stop();
  });
  beforeEach(() => {
    complaints = [];
  });

  /** Opens a guarded tab. */
  async function openTab(userAgent?: string): Promise<void> {
    context = await browser.newContext({ javaScriptEnabled, locale: "en", ...(userAgent && { userAgent }) });
    page = await newTab(context, complaints);
    await guard(page, complaints);
  }

  /** Closes the tab; nothing of what its pages showed may have run. */
  async function nothingRan(): Promise<void> {
    await context.close();
    expect(complaints).toEqual([]);
  }

  test.each(CORPUS)("name, biography, username and browser called %s are texts", async (text) => {
    const [{ auth, profiles }, email] = [serverClient(service.url), newEmail()];
    must(await auth.signUp({ email, password: PASSWORD, name: text }));
    must(await profiles.update({ bio: text }));
    await openTab(text);

    await page.goto(`${service.url}/auth/sign-in`);
    await send(page, { "Email address": email, Password: PASSWORD }, "Sign in");
    await shown(page, "Your account");
    expect(await page.locator(".who .big").textContent()).toBe(text);
    for (const path of ACCOUNT) {
      await page.goto(`${service.url}/auth/account${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
    }
    await page.goto(`${service.url}/auth/account/profile`);
    expect(await page.getByLabel("Name (optional)", { exact: true }).inputValue()).toBe(text);
    expect(await page.locator("#bio").inputValue()).toBe(text);
    await send(page, { "Username (optional)": text }, "Save profile");
    await page.locator("#username[aria-invalid]").waitFor();
    expect(await page.locator("#username").inputValue()).toBe(text);

    await nothingRan();
  });

  test.each(CORPUS)("provider and error of a provider called %s are texts", async (text) => {
    await asAdmin(service, "PUT", "/api/auth/oauth/custom/acme/config", { name: text });
    await openTab();
    await page.goto(`${service.url}/auth/sign-in`);
    const left = page.waitForRequest((request) => request.url().includes("state=") && !request.url().startsWith(service.url));

    await press(page, `Continue with ${text}`);
    const state = new URL((await left).url()).searchParams.get("state") ?? "";
    // The provider leads to a page of its own; until that is there, its redirect would end the next navigation.
    await page.waitForURL((url) => url.pathname.startsWith("/interaction/"));
    const error = new URLSearchParams({ state, error: "access_denied", error_description: text, error_uri: text });
    await page.goto(`${service.url}/api/auth/oauth/custom/acme/callback?${error}`);
    await shown(page, "Sign-in was cancelled");
    expect(await page.locator("main").textContent()).toContain(`${text} did not sign you in.`);

    await nothingRan();
  });

  test.each(CORPUS)("language, flow, hint and address called %s are texts", async (text) => {
    await openTab();
    for (const [path, query] of [
      ["sign-in", { locale: text }],
      ["sign-in", { login_hint: text }],
      ["sign-in", { flow: text }],
      ["sign-in", { redirect_uri: text, code_challenge: text, state: text }],
      ["continue", { ticket: text }],
      ["provider/return", { error: text, error_description: text }],
      ["account/sessions", { after: text }],
      [encodeURIComponent(text), {}],
    ] as const) {
      await page.goto(`${service.url}/auth/${path}?${new URLSearchParams(query as Record<string, string>)}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
    }
    await page.goto(`${service.url}/auth/sign-in`);
    await send(page, { "Email address": text, Password: text }, "Sign in");
    await page.getByRole("alert").or(page.locator("[aria-invalid]")).first().waitFor();
    expect(await page.getByLabel("Email address", { exact: true }).inputValue()).toBe(text);

    await nothingRan();
  });
});
