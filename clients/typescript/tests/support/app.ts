// The example app of examples/browser in a real browser.
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { extname } from "node:path";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { build, type Rolldown } from "vite";
import { freePort } from "./service.js";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const SCREENSHOTS = at("../../../../target/screenshots/");

const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

/** Running app. */
export interface App {
  url: string;
  stop(): Promise<void>;
}

/** Builds the app for a service, with the client from src/, and serves it from memory. */
export async function startApp(serviceUrl: string, folder = "../../../../examples/browser"): Promise<App> {
  const built = await build({
    root: at(folder),
    configFile: false,
    logLevel: "error",
    define: { "import.meta.env.VITE_LATCHKEY_URL": JSON.stringify(serviceUrl) },
    resolve: { alias: { "@latchkey/client": at("../../src/index.ts") } },
    build: { write: false, minify: false },
  });
  const { output } = (Array.isArray(built) ? built[0] : built) as Rolldown.RolldownOutput;
  const files = new Map(output.map((file) => [file.fileName, file.type === "chunk" ? file.code : file.source]));
  const server = createServer((request, response) => {
    const name = new URL(request.url ?? "/", "http://localhost").pathname.slice(1) || "index.html";
    const file = files.get(name);
    response.writeHead(file ? 200 : 404, { "content-type": TYPES[extname(name)] ?? "text/plain" }).end(file);
  });
  server.listen(await freePort(), "localhost");
  await once(server, "listening");
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Path of Chromium, and its flags to run as root in a container. */
export const CHROMIUM = {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-background-networking"],
};

/** Starts a browser. */
export const openBrowser = (): Promise<Browser> => chromium.launch(CHROMIUM);

/** Takes a screenshot into target/screenshots. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: `${SCREENSHOTS}${name}.png`, fullPage: true, animations: "disabled" });
}

/** Opens a page of the app; script errors fail the test. */
export async function visit(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(8_000);
  page.on("pageerror", (error) => {
    throw error;
  });
  await page.goto(url);
  return page;
}

/** Fills and submits the form of the page. */
export async function submit(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text);
  await page.locator("form button.primary").click();
}

/** Waits for a heading or another text. */
export const seen = (page: Page, text: string): Promise<void> => page.getByText(text, { exact: true }).first().waitFor();

/** Waits for the view or page with a heading, before its form is filled: the one before may have the same fields. */
export const shown = (page: Page, name: string): Promise<void> =>
  page.getByRole("heading", { name, exact: true }).waitFor();

/** Counts the refreshes of a context's pages: total and maximum concurrency. */
export function countRefreshes(context: BrowserContext): { total: number; most: number } {
  const count = { total: 0, most: 0 };
  let running = 0;
  const isRefresh = (url: string): boolean => url.includes("/api/auth/refresh");
  context.on("request", (request) => {
    if (!isRefresh(request.url()) || request.method() !== "POST") return;
    count.total += 1;
    count.most = Math.max(count.most, ++running);
  });
  const over = (request: { url(): string; method(): string }): void => {
    if (isRefresh(request.url()) && request.method() === "POST") running -= 1;
  };
  context.on("requestfinished", over);
  context.on("requestfailed", over);
  return count;
}
