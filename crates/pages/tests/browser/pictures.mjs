// Pictures of README.md: `node pictures.mjs BINARY OUT` takes them of what `BINARY pages preview` writes.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

/** Most bytes of all pictures together. */
const MOST = 150_000;
/** Names of the pictures, with the state and the size of the window. */
const PICTURES = [
  ["sign-in", "sign_in", 480, 720],
  ["console", "console.overview", 1120, 720],
];

const [binary, out] = process.argv.slice(2);
const preview = mkdtempSync(join(tmpdir(), "latchkey-pictures-"));
execFileSync(resolve(binary), ["pages", "preview", "--out", preview], { cwd: preview });
mkdirSync(out, { recursive: true });
const args = ["--no-sandbox", "--disable-background-networking"];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args });
let total = 0;
for (const colorScheme of ["light", "dark"]) {
  // The pages work without script, and files of a folder load none.
  const context = await browser.newContext({ colorScheme, deviceScaleFactor: 1.25, javaScriptEnabled: false });
  for (const [name, state, width, height] of PICTURES) {
    const page = await context.newPage();
    await page.setViewportSize({ width, height });
    await page.goto(pathToFileURL(join(preview, `${state}.html`)).href);
    const session = await context.newCDPSession(page);
    await page.screenshot(); // waits for a drawn frame, which the next line needs
    const clip = { x: 0, y: 0, width, height, scale: 1 };
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 75, clip });
    const file = join(out, `${name}-${colorScheme}.webp`);
    writeFileSync(file, Buffer.from(data, "base64"));
    total += statSync(file).size;
    await page.close();
  }
}
await browser.close();
rmSync(preview, { recursive: true });
console.log(`pictures: ${total} bytes, at most ${MOST}`);
if (total > MOST) process.exit(1);
