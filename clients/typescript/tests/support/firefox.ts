// Firefox as Debian has it, driven by WebDriver BiDi.
import { type Browser, launch, type Page } from "puppeteer-core";

/** Starts Firefox. */
export const openFirefox = (): Promise<Browser> =>
  launch({
    browser: "firefox",
    executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr",
    headless: true,
    // Nothing is asked of the network but what the pages ask.
    extraPrefsFirefox: { "app.update.enabled": false, "datareporting.policy.dataSubmissionEnabled": false },
  });

/** Waits for an element with this text, and nothing else in it. */
export async function seen(page: Page, text: string): Promise<void> {
  await page.locator(`::-p-xpath(//*[normalize-space(text())="${text}"])`).wait();
}

/** Presses a button or link by its text. */
export async function press(page: Page, text: string): Promise<void> {
  await page.locator(`::-p-xpath(//*[self::a or self::button][normalize-space(.)="${text}"])`).click();
}

/** Fills the form of the page and sends it. */
export async function submit(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [label, text] of Object.entries(fields)) {
    await page.locator(`::-p-xpath(//label[starts-with(normalize-space(.), "${label}")]//input)`).fill(text);
  }
  await page.locator("form button.primary").click();
}
