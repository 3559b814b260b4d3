// Firefox from Debian, driven by WebDriver BiDi.
import { once } from "node:events";
import { connect } from "node:net";
import { type Browser, launch, type Page } from "puppeteer-core";

/** Starts Firefox; with a port for Marionette, its older protocol, which has authenticators in software. */
export const openFirefox = (marionette?: number): Promise<Browser> =>
  launch({
    browser: "firefox",
    executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr",
    headless: true,
    args: marionette ? ["--marionette"] : [],
    extraPrefsFirefox: {
      // No network requests besides those of the pages.
      "app.update.enabled": false,
      "datareporting.policy.dataSubmissionEnabled": false,
      ...(marionette && {
        "marionette.port": marionette,
        "security.webauth.webauthn_enable_softtoken": true,
        "security.webauth.webauthn_enable_usbtoken": false,
      }),
    },
  });

/** Authenticator of a whole Firefox. */
export interface FirefoxAuthenticator {
  /** Number of its passkeys. */
  count(): Promise<number>;
  /** Whether it verifies its user. */
  verifies(isVerified: boolean): Promise<unknown>;
  /** Ends the connection, and leaves the authenticator to the end of the browser. */
  disconnect(): void;
}

/** Adds an authenticator in the device, whose user is verified, by Marionette at this port. */
export async function addFirefoxAuthenticator(port: number): Promise<FirefoxAuthenticator> {
  const socket = connect(port, "127.0.0.1");
  // The greeting. A message is its length in bytes, a colon, and JSON.
  await once(socket, "data");
  let id = 0;
  const send = async (name: string, parameters: object): Promise<any> => {
    const text = JSON.stringify([0, ++id, `WebAuthn:${name}`, parameters]);
    socket.write(`${Buffer.byteLength(text)}:${text}`);
    let answer = Buffer.alloc(0);
    for (;;) {
      answer = Buffer.concat([answer, ((await once(socket, "data")) as [Buffer])[0]]);
      const colon = answer.indexOf(":");
      if (colon < 0 || answer.length < colon + 1 + Number(answer.subarray(0, colon))) continue;
      const [, , error, result] = JSON.parse(answer.subarray(colon + 1).toString());
      if (error) throw new Error(`${name} failed: ${error.message}`);
      return result?.value;
    }
  };
  const one = { isUserVerified: true, isUserConsenting: true, hasUserVerification: true, hasResidentKey: true };
  const authenticatorId = await send("AddVirtualAuthenticator", { protocol: "ctap2", transport: "internal", ...one });
  return {
    count: async () => (await send("GetCredentials", { authenticatorId })).length,
    verifies: (isUserVerified) => send("SetUserVerified", { authenticatorId, isUserVerified }),
    disconnect: () => socket.destroy(),
  };
}

/** Waits for an element with exactly this text. */
export async function seen(page: Page, text: string): Promise<void> {
  await page.locator(`::-p-xpath(//*[normalize-space(text())="${text}"])`).wait();
}

/** Clicks a button or link by its text. */
export async function press(page: Page, text: string): Promise<void> {
  await page.locator(`::-p-xpath(//*[self::a or self::button][normalize-space(.)="${text}"])`).click();
}

/** Fills and submits the form of the page. */
export async function submit(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [label, text] of Object.entries(fields)) {
    await page.locator(`::-p-xpath(//label[starts-with(normalize-space(.), "${label}")]//input)`).fill(text);
  }
  await page.locator("form button.primary").click();
}
