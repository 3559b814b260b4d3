// Visitor in Chromium who signs in to an app through the provider: `node browser.js SERVICE`. The service has the provider
// under the key `acme`.
//
// Serves `app.html` on a free port, then writes one line of JSON per step, `{"step", "output", "url"}`, with the text and the URL
// of the app's page.
import { readFile } from "node:fs/promises";
import { once } from "node:events";
import { createServer } from "node:http";
import { chromium } from "playwright-core";

const CHROMIUM = "/usr/bin/chromium";

const [service] = process.argv.slice(2);
const page = (await readFile(new URL("app.html", import.meta.url), "utf8")).replace("SERVICE", service);
const server = createServer((_, response) => response.setHeader("content-type", "text/html").end(page));
server.listen(0, "127.0.0.1");
await once(server, "listening");
// The same host name as the service: another name would be another site, without its cookie.
const app = `http://localhost:${server.address().port}`;

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const tab = await browser.newPage();
  const tell = async (step, pattern) => {
    await tab.waitForURL((url) => url.origin === app);
    const said = tab.locator("#said", { hasText: pattern });
    await said.waitFor();
    process.stdout.write(`${JSON.stringify({ step, output: await said.textContent(), url: tab.url() })}\n`);
  };
  const signIn = () => tab.getByRole("button", { name: "Sign in with Acme" }).click();

  await tab.goto(app);
  await tell("before", "Nobody");

  await signIn();
  await tab.getByLabel("Login").fill("ada");
  await tab.getByRole("button", { name: "Go on" }).click();
  await tab.getByRole("button", { name: "Deny" }).click();
  await tell("denied", "Refused");

  await signIn();
  await tab.getByRole("button", { name: "Allow" }).click();
  await tell("allowed", "signed in");

  await tab.goto(app);
  await tell("opened again", "signed in");

  await tab.getByRole("button", { name: "Sign out" }).click();
  await tell("signed out", "Signed out");
  await tab.goto(app);
  await tell("after", "Nobody");
} finally {
  await browser.close();
  server.close();
  server.closeAllConnections();
}
