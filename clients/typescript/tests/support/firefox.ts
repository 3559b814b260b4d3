// Firefox from Debian, driven by WebDriver BiDi.
import { type Browser, launch, type Page } from "puppeteer-core";

/** Starts Firefox. */
export const openFirefox = (): Promise<Browser> =>
  launch({
    browser: "firefox",
    executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr",
    headless: true,
    // No network requests besides those of the pages.
    extraPrefsFirefox: { "app.update.enabled": false, "datareporting.policy.dataSubmissionEnabled": false },
  });

/** Waits for an element with exactly this text. */
export async function seen(page: Page, text: string): Promise<void> {
  await page.locator(`::-p-xpath(//*[normalize-space(text())="${text}"])`).wait();
}

/** Clicks a button or link by its text. */
export async function press(page: Page, text: string): Promise<void> {
  await page.locator(`::-p-xpath(//*[self::a or self::button][normalize-space(.)="${text}"])`).click();
}

/** Fills and submits the form of the page. */
export async function submit(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [label, text] of Object.entries(fields)) {
    await page.locator(`::-p-xpath(//label[starts-with(normalize-space(.), "${label}")]//input)`).fill(text);
  }
  await page.locator("form button.primary").click();
}
