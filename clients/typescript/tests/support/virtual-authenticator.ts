// Authenticators of Chromium in software, over its debugging protocol.
import type { BrowserContext, CDPSession, Frame, Page } from "playwright-core";

/** Authenticator of a page. */
export interface VirtualAuthenticator {
  /** Credential ids of its passkeys, in base64url. */
  ids(): Promise<string[]>;
  /** Whether it verifies its user. */
  verifies(isVerified: boolean): Promise<unknown>;
  /** Whether its user confirms every request at once. */
  confirms(isThere: boolean): Promise<unknown>;
  /** Without presence and verification, as in a registration without a dialog. */
  isSilent(isSilent: boolean): Promise<unknown>;
  remove(): Promise<unknown>;
}

const sessions = new WeakMap<Page, Promise<CDPSession>>();

/** Debugging session of a page, which replaces the dialogs of the browser by authenticators in software. */
function sessionOf(page: Page): Promise<CDPSession> {
  const known = sessions.get(page);
  if (known) return known;
  const made = page.context().newCDPSession(page).then(async (session) => {
    await session.send("WebAuthn.enable", { enableUI: false });
    return session;
  });
  sessions.set(page, made);
  return made;
}

/** Adds an authenticator to a page: by default one in the device, whose user confirms and is verified. */
export async function addAuthenticator(page: Page, transport: "internal" | "usb" = "internal"): Promise<VirtualAuthenticator> {
  const session = await sessionOf(page);
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      ctap2Version: "ctap2_1",
      transport,
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const one = { authenticatorId };
  return {
    async ids() {
      const { credentials } = await session.send("WebAuthn.getCredentials", one);
      return credentials.map(({ credentialId }) => Buffer.from(credentialId, "base64").toString("base64url"));
    },
    verifies: (isUserVerified) => session.send("WebAuthn.setUserVerified", { ...one, isUserVerified }),
    confirms: (enabled) => session.send("WebAuthn.setAutomaticPresenceSimulation", { ...one, enabled }),
    isSilent: (isSilent) => session.send("WebAuthn.setResponseOverrideBits", { ...one, isBadUV: isSilent, isBadUP: isSilent }),
    remove: () => session.send("WebAuthn.removeVirtualAuthenticator", one),
  };
}

/** Counts the requests of pages that wait in an autofill. */
export const countAutofills = (context: BrowserContext): Promise<unknown> =>
  context.addInitScript(() => {
    const page = globalThis as unknown as { autofills: number };
    page.autofills = 0;
    const { credentials } = navigator;
    const get = credentials.get.bind(credentials);
    credentials.get = (options) => {
      if (options?.mediation === "conditional") page.autofills += 1;
      return get(options);
    };
  });

/** Number of those requests so far. */
export const autofillsOf = (page: Page | Frame): Promise<number> => page.evaluate<number>("autofills");

/** Waits for such a request after the first `before`. From then on the user's presence is that for a later request. */
export const offered = (page: Page | Frame, before = 0): Promise<unknown> =>
  page.waitForFunction((count) => (globalThis as unknown as { autofills: number }).autofills > count, before);
