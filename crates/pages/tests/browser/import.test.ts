// Imports and the export of all accounts in the console, against the running service, on both engines, with script and without.
import { readFile } from "node:fs/promises";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openBrowser } from "../../../../clients/typescript/tests/support/app.js";
import { CROSSED } from "./combinations.js";
import { CORPUS, expectNoMarkup, guard } from "./corpus.js";
import { type Staffed, startStaffed } from "./operator.js";
import { newTab, press, shown } from "./person.js";

describe.each(CROSSED)("%s", (_, engine, javaScriptEnabled) => {
  let browser: Browser;
  let service: Staffed;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  beforeAll(async () => {
    [browser, service] = await Promise.all([openBrowser(), startStaffed(engine)]);
  });
  afterAll(() => Promise.all([browser.close(), service.stop()]));
  beforeEach(async () => {
    complaints = [];
    context = await browser.newContext({ javaScriptEnabled, locale: "en" });
    page = await newTab(context, complaints);
    await guard(page, complaints);
    await service.becomeOwner(page);
  });
  afterEach(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });

  /** Uploads a file of records. */
  async function upload(name: string, lines: object[], isTrial: boolean): Promise<void> {
    await page.goto(`${service.url}/console/import/new`);
    const buffer = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await page.locator("#file").setInputFiles({ name, mimeType: "application/x-ndjson", buffer });
    await page.getByRole("radio", { name: isTrial ? /^Try it/ : /^Import it/ }).check();
    await press(page, "Upload the file");
    await shown(page, name);
    while (await page.getByText("Records are being read.").isVisible()) await page.reload();
  }

  test("a file is tried, imported and undone", async () => {
    const people = [{ email: "person@example.org", name: "Grace" }, { email: "x" }];

    await upload("people.jsonl", people, true);
    await page.getByText("Nothing was written").waitFor();
    await upload("people.jsonl", people, false);
    await page.getByRole("cell", { name: "No valid email address" }).or(page.getByText("No valid email address").first()).first().waitFor();
    await page.getByRole("link", { name: "Undo this import" }).click();
    await page.locator("#confirmation").fill("Latchkey");
    await press(page, "Delete these accounts");

    await page.getByText("Accounts that are deleted: 1.").waitFor();
  });

  test("all accounts are downloaded with their secrets", async () => {
    await page.goto(`${service.url}/console/export`);
    await page.getByRole("radio", { name: /^With secrets/ }).check();
    const started = page.waitForEvent("download");

    await press(page, "Download the file");

    const file = await started;
    expect(file.suggestedFilename()).toBe("latchkey-export.jsonl");
    const text = await readFile((await file.path()) ?? "", "utf8");
    expect(text).toContain("passwordHash");
    expect(JSON.parse(text.trimEnd().split("\n").at(-1) ?? "{}").kind).toBe("end");
  });

  test("texts of files are texts", async () => {
    for (const [index, text] of CORPUS.entries()) {
      const name = text.replaceAll(/[\u0000-\u001f/\\]/g, "") || "x";
      await page.goto(`${service.url}/console/import/new`);
      const record = { email: `hostile-${index}@example.org`, id: text, [text]: 1 };
      await page.locator("#file").setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(JSON.stringify(record)) });
      await page.getByRole("radio", { name: /^Import it/ }).check();
      await press(page, "Upload the file");
      await page.getByText(/^(Records are being read|All records were read)/).waitFor();
      await page.reload();
      await expectNoMarkup(page);
    }

    await page.goto(`${service.url}/console/import`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await expectNoMarkup(page);
  });
});
