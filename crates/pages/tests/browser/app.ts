// An app on another port that sends its users to the pages, with the client in server mode.
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import type { PagesInput, SignedIn } from "../../../../clients/typescript/src/index.js";
import { must, serverClient } from "../../../../clients/typescript/tests/support/people.js";
import { shown } from "./person.js";

const HEADING = "The app";

/** Visit to the pages that the app began. */
export interface VisitOfPages {
  /** URL at which it begins. */
  url: string;
  /** Waits for the way back, and opens the app's session with its code. */
  finish(page: Page): Promise<SignedIn>;
}

/** Running app. */
export interface App {
  origin: string;
  begin(service: string, input?: PagesInput): Promise<VisitOfPages>;
  stop(): Promise<void>;
}

/** Starts the app. */
export async function startApp(): Promise<App> {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><html lang="en"><link rel="icon" href="data:,"><h1>${HEADING}</h1>`);
  });
  server.listen(0, "localhost");
  await once(server, "listening");
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    async begin(service, input = {}) {
      const { auth } = serverClient(service);
      const { url = "", codeVerifier } = must(
        await auth.signInWithPages({ redirectTo: `${origin}/done`, skipBrowserRedirect: true, ...input }),
      );
      return {
        url,
        async finish(page) {
          await shown(page, HEADING);
          const code = new URL(page.url()).searchParams.get("service_code") ?? "";
          return must(await auth.exchangeOAuthCode(code, codeVerifier));
        },
      };
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
