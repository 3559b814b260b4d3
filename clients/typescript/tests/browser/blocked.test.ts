// In a real browser with blocked cookies and site data.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type App, CHROMIUM, picture, seen, startApp, submit, visit } from "../support/app.js";
import { newEmail, PASSWORD } from "../support/people.js";

/** "Block all cookies" in the settings of Chromium. */
const PREFERENCES = { profile: { default_content_setting_values: { cookies: 2 } } };

let app: App;
let folder: string;
let context: BrowserContext;
beforeAll(async () => {
  app = await startApp(inject("open"));
  folder = await mkdtemp(join(tmpdir(), "latchkey-blocked-"));
  await mkdir(join(folder, "Default"));
  await writeFile(join(folder, "Default", "Preferences"), JSON.stringify(PREFERENCES));
  context = await chromium.launchPersistentContext(folder, CHROMIUM);
});
afterAll(async () => {
  await context.close();
  await app.stop();
  await rm(folder, { recursive: true, force: true });
});

test("cookies blocked: a sign-in works until the page is left", async () => {
  const page = await visit(context, `${app.url}#sign-up`);
  expect(await page.evaluate("(() => { try { return !!localStorage } catch (error) { return error.name } })()")).toBe(
    "SecurityError",
  );

  await submit(page, { Name: "Ada Lovelace", Email: newEmail(), Password: PASSWORD });
  await seen(page, "not verified");
  await submit(page, { Name: "Ada King" });
  await seen(page, "Saved.");
  await picture(page, "cookies-blocked");
  await page.reload();
  await seen(page, "Create an account");
  expect(await context.cookies()).toEqual([]);
});

test("cookies blocked: a provider sign-in names the permission to grant", async () => {
  const config = { oAuthProviders: ["google"], customOAuthProviders: [], passwordMinLength: 8 };
  const headers = { "access-control-allow-origin": new URL(app.url).origin, "access-control-allow-credentials": "true" };
  await context.route("**/public-config", (route) => route.fulfill({ json: config, headers }));
  const page = await visit(context, app.url);

  await page.getByText("Continue with google").click();

  await page.getByText("Allow cookies and site data for this site and try again.").waitFor();
  await picture(page, "provider-blocked");
});
