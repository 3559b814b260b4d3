// Certified OpenID provider (npm `oidc-provider`), also used by the service's tests.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { ADMIN_KEY } from "./service.js";

const SCRIPT = fileURLToPath(new URL("../../../../crates/server/tests/oidc/server.js", import.meta.url));

/** Starts the provider and configures it at a service under the key `acme`. */
export async function startProvider(serviceUrl: string): Promise<ChildProcess> {
  const callback = `${serviceUrl}/api/auth/oauth/custom/acme/callback`;
  const child = spawn("node", [SCRIPT, "0", callback], { stdio: ["pipe", "pipe", "ignore"] });
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the provider ${SCRIPT} ended with status ${code}`);
  });
  const [line] = (await Promise.race([once(child.stdout, "data"), ended])) as [Buffer];
  ended.catch(() => undefined);
  const { issuer } = JSON.parse(line.toString()) as { issuer: string };
  const body = {
    key: "acme",
    name: "Acme",
    discoveryEndpoint: `${issuer}/.well-known/openid-configuration`,
    clientId: "latchkey",
    clientSecret: "secret-of-the-client-at-the-provider-of-the-tests",
  };
  const answer = await fetch(`${serviceUrl}/api/auth/oauth/custom/configs`, {
    method: "POST",
    headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`the provider was not taken: ${await answer.text()}`);
  return child;
}

/** Logs in on the provider's first page. */
export async function sayWho(page: Page, login: string): Promise<void> {
  await page.getByLabel("Login").fill(login);
  await page.getByRole("button", { name: "Go on" }).click();
}

/** Decides on the provider's consent page. */
export const decide = (page: Page, answer: "Allow" | "Deny"): Promise<void> =>
  page.getByRole("button", { name: answer }).click();
