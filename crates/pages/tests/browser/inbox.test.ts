// The inbox of development in a browser, on both engines, with script and without.
import { expect, test } from "vitest";
import { openBrowser } from "../../../../clients/typescript/tests/support/app.js";
import { newEmail, PASSWORD } from "../../../../clients/typescript/tests/support/people.js";
import { startService } from "../../../../clients/typescript/tests/support/service.js";
import { CROSSED, startStorage } from "./combinations.js";
import { newTab, shown } from "./person.js";

test.each(CROSSED)("the inbox shows a new mail without a press, and fits a phone, %s", async (_, engine, javaScriptEnabled) => {
  const complaints: string[] = [];
  const [browser, storage] = await Promise.all([openBrowser(), startStorage(engine)]);
  const service = await startService({ "auth.require_email_verification": "true", ...storage.settings() });
  const page = await newTab(await browser.newContext({ javaScriptEnabled, viewport: { width: 320, height: 640 } }), complaints);
  const width = (): Promise<number> => page.evaluate(() => document.scrollingElement?.scrollWidth ?? 0);
  await page.goto(`${service.url}/dev/mail`);
  await page.getByText("No mails yet.").waitFor();

  const email = `a-rather-long-name-of-${newEmail()}`;
  const headers = { "content-type": "application/json" };
  await fetch(`${service.url}/api/auth/users`, { method: "POST", headers, body: JSON.stringify({ email, password: PASSWORD }) });

  await page.getByText(email).waitFor();
  expect(await width()).toBe(320);
  await page.getByRole("link").first().click();
  await shown(page, "Your verification code for Latchkey");
  expect(await width()).toBe(320);
  await browser.close();
  await service.stop();
  await storage.stop();
  expect(complaints).toEqual([]);
});
