// Flows whose time is over: made of live ones with the server secret, because no test waits for 30 minutes.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import type { Page } from "playwright-core";

/** Secret of a service whose flows a test ends. */
export const SECRET = "a-server-secret-for-tests-and-nothing-else";

const KEY = Buffer.from(hkdfSync("sha256", SECRET, "latchkey/v1", "pages/sealing", 32));
const KIND = Buffer.from("flow");
/** Form of a page of a flow. */
const FORM = "main form[method=post][action*='flow=']";
const [NONCE_LENGTH, TAG_LENGTH] = [12, 16];

function open(flow: string): object {
  const sealed = Buffer.from(flow, "base64url");
  const cipher = createDecipheriv("aes-256-gcm", KEY, sealed.subarray(0, NONCE_LENGTH));
  cipher.setAAD(KIND).setAuthTag(sealed.subarray(-TAG_LENGTH));
  const plain = Buffer.concat([cipher.update(sealed.subarray(NONCE_LENGTH, -TAG_LENGTH)), cipher.final()]);
  return JSON.parse(plain.toString()) as object;
}

function seal(flow: object): string {
  const nonce = randomBytes(NONCE_LENGTH);
  const cipher = createCipheriv("aes-256-gcm", KEY, nonce).setAAD(KIND);
  const body = Buffer.concat([cipher.update(JSON.stringify(flow)), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString("base64url");
}

/** Address to which the form of a page leads after the end of its flow, with everything else of the flow as it was. */
export async function lateAddress(page: Page): Promise<string> {
  const action = await page.locator(FORM).first().getAttribute("action");
  const url = new URL(action ?? "", page.url());
  url.searchParams.set("flow", seal({ ...open(url.searchParams.get("flow") ?? ""), ends: Date.now() - 1 }));
  return url.href;
}

/** Lets the time of the flow be over while the form of a page is filled. */
export async function endFlow(page: Page): Promise<void> {
  const late = await lateAddress(page);
  await page.locator(FORM).evaluateAll((forms, late) => forms.forEach((form) => form.setAttribute("action", late)), late);
}
