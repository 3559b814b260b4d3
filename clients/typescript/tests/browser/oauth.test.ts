// In a real browser: there and back again. The provider is played by the test; the session is the service's own.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type App, openBrowser, picture, seen, startApp, visit } from "../support/app.js";
import { challenge } from "../support/fake-service.js";
import { newUser, PASSWORD, serverClient } from "../support/people.js";

let browser: Browser;
let app: App;
beforeAll(async () => {
  browser = await openBrowser();
  app = await startApp(inject("open"));
});
afterAll(async () => {
  await app.stop();
  await browser.close();
});

test("a visit at a provider ends signed in, with a clean address", async () => {
  const context = await browser.newContext();
  const { email } = await newUser(serverClient(inject("open")));
  let asked = new URL("no:thing");
  const headers = { "access-control-allow-origin": new URL(app.url).origin, "access-control-allow-credentials": "true" };
  await context.route("**/public-config", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), customOAuthProviders: ["acme"] } });
  });
  await context.route("**/api/auth/oauth/acme?*", (route) => {
    const body = { error: "UNSUPPORTED_PROVIDER", message: "No.", statusCode: 400 };
    return route.fulfill({ status: 400, json: body, headers });
  });
  await context.route("**/api/auth/oauth/custom/acme?*", (route) => {
    asked = new URL(route.request().url());
    const back = new URL(asked.searchParams.get("redirect_uri") ?? "");
    back.searchParams.set("service_code", "the-code");
    return route.fulfill({ json: { authUrl: back.href }, headers });
  });
  await context.route("**/api/auth/oauth/exchange?*", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    const { code, code_verifier } = route.request().postDataJSON() as Record<string, string>;
    expect(code).toBe("the-code");
    expect(challenge(code_verifier ?? "")).toBe(asked.searchParams.get("code_challenge"));
    const url = route.request().url().replace("oauth/exchange", "sessions");
    return route.continue({ url, postData: JSON.stringify({ email, password: PASSWORD }) });
  });
  const page = await visit(context, app.url);

  await page.getByText("Continue with acme").waitFor();
  await picture(page, "providers");
  await page.getByText("Continue with acme").click();

  await seen(page, email);
  expect(page.url()).toBe(app.url);
  expect(await page.evaluate("JSON.stringify(sessionStorage)")).toBe("{}");
  await page.reload();
  await seen(page, email);
  await context.close();
});
