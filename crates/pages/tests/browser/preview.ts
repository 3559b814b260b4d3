// Every page in every state, as `latchkey pages preview` writes it, served under the headers of the running service.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { binary, startService } from "../../../../clients/typescript/tests/support/service.js";

const TYPES: Record<string, string> = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
/** Headers of a page that change what a browser does with it. */
const HEADERS = ["content-security-policy", "permissions-policy", "referrer-policy", "x-content-type-options", "cross-origin-opener-policy"];

/** Served preview. */
export interface Preview {
  origin: string;
  /** Paths of the states of the pages in two languages, and of the console in English. */
  states: { en: string[]; qps: string[]; console: string[] };
  stop(): Promise<void>;
}

/** Headers that the service sends with a page. */
async function headersOfPages(): Promise<Record<string, string>> {
  const service = await startService();
  const answer = await fetch(`${service.url}/auth/sign-in`);
  await service.stop();
  const headers = HEADERS.map((name) => [name, answer.headers.get(name) ?? ""] as const);
  const missing = headers.filter(([, value]) => !value);
  if (missing.length) throw new Error(`pages are sent without ${missing.join(" ")}`);
  return Object.fromEntries(headers);
}

/** Writes the preview in English and in the pseudo-language, and serves it. */
export async function startPreview(): Promise<Preview> {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-preview-"));
  const names = async (locale: string, isWanted: (name: string) => boolean): Promise<string[]> => {
    const files = await readdir(join(folder, locale));
    return files.filter((name) => name.endsWith(".html") && name !== "index.html" && isWanted(name)).map((name) => `/${locale}/${name}`);
  };
  for (const locale of ["en", "qps"]) {
    execFileSync(binary(), ["pages", "preview", "--locale", locale, "--out", join(folder, locale)], { cwd: folder });
  }
  const isConsole = (name: string): boolean => name.startsWith("console.");
  const isPage = (name: string): boolean => !isConsole(name);
  const states = { en: await names("en", isPage), qps: await names("qps", isPage), console: await names("en", isConsole) };

  const headers = await headersOfPages();
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://localhost").pathname);
    const file = await readFile(join(folder, path)).catch(() => undefined);
    const type = file ? (TYPES[extname(path)] ?? "application/octet-stream") : "text/plain";
    // As at the service, whose pages are loaded each time and whose assets are not.
    const cached = type.startsWith("text/html") ? "no-store" : "max-age=3600";
    response.writeHead(file ? 200 : 404, { ...headers, "content-type": type, "cache-control": cached }).end(file);
  });
  server.listen(0, "localhost");
  await once(server, "listening");
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    states,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
