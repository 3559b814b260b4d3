// A person at the pages, with a keyboard and no mouse.
import type { BrowserContext, Locator, Page } from "playwright-core";

/** Most presses of the Tab key to anything on a page. */
const MOST_TABS = 80;

/** Opens a tab, and notes in `complaints` what its pages say in the console, apart from the status of a refused form. */
export async function newTab(context: BrowserContext, complaints: string[]): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error.message}`));
  page.on("console", (message) => {
    if (!message.text().startsWith("Failed to load resource")) complaints.push(`${page.url()}: ${message.text()}`);
  });
  return page;
}

/** Waits for the page with a heading. */
export const shown = (page: Page, heading: string): Promise<void> =>
  page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();

/** Moves the focus to something with the Tab key. */
export async function reach(page: Page, target: Locator): Promise<void> {
  const element = await target.elementHandle();
  for (let presses = 0; presses < MOST_TABS; presses += 1) {
    if (await element?.evaluate((one) => one === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`the Tab key does not lead to ${target}`);
}

/** Types into fields, known by their labels. */
export async function type(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [label, text] of Object.entries(fields)) {
    await reach(page, page.getByLabel(label, { exact: true }));
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.insertText(text);
  }
}

/** Presses a button, or follows a link. */
export async function press(page: Page, name: string | RegExp): Promise<void> {
  const exact = typeof name === "string";
  const [button, link] = [page.getByRole("button", { name, exact }), page.getByRole("link", { name, exact })];
  await reach(page, button.or(link).filter({ visible: true }).first());
  await page.keyboard.press("Enter");
}

/** Fills a form and sends it with a button. */
export async function send(page: Page, fields: Record<string, string>, button: string): Promise<void> {
  await type(page, fields);
  await press(page, button);
}
