// The address of the page after an emailed link or a provider's return, and the way to the OAuth flow. Not here: the
// flow itself (oauth-flow.ts), which is loaded on demand.
import { base64url } from "./claims.js";
import { failure, LatchkeyError, type Result, unexpected, unreachable } from "./errors.js";
import type { Flow } from "./oauth-flow.js";
import { isPage, type Settings } from "./options.js";
import { parameterOf, readRedirectResult, type RedirectResult, withoutRedirectParameters } from "./redirect.js";
import type { Sessions } from "./sessions.js";
import { memoryStorage, siteStorage, type Storage } from "./storage.js";
import type { Transport } from "./transport.js";

/** Input of `signInWithOAuth`. */
export interface OAuthInput {
  /** Key of a built-in or a custom provider. */
  provider: string;
  /** Address to which the browser comes back; left out (older variant): the default of the service. */
  redirectTo?: string;
  /** Hints for the provider, for example `login_hint`. Parameters that the service sets itself are ignored. */
  additionalParams?: Record<string, string>;
  /** Returns the address and does not go there. */
  skipBrowserRedirect?: boolean;
  /**
   * Window that goes to the provider instead of this page: the result of `window.open()`, called in the click, before
   * anything is awaited. It is closed if the sign-in cannot begin. `null`, of a blocked popup, means this page.
   */
  window?: Window | null;
}

/** Output of `signInWithOAuth`. */
export interface OAuthStart {
  url?: string;
  provider?: string;
  /** Verifier for the exchange; a page keeps it by itself. */
  codeVerifier?: string;
}

/** Milliseconds for a visit at a provider. */
const VISIT = 600_000;

/** OAuth of one client. */
export interface OAuth {
  /** Uses the flow, which is loaded at the first use. */
  use<T>(work: (flow: Flow, verifier: string | undefined) => Promise<Result<T>>): Promise<Result<T>>;
  /** Reads the address of the page at the start, takes out what the service added, and exchanges a code. */
  readAddress(): Promise<void>;
  /** Outcome that the address told, at the start or now. */
  takeResult(): RedirectResult | null;
  /** Drops the outcome: it was acted upon. */
  forgetResult(): void;
}

/** Creates the OAuth of one client. */
export function createOAuth(settings: Settings, transport: Transport, sessions: Sessions, given?: Storage): OAuth {
  const isWebPage = isPage() && settings.clientType === "web";
  const storage = given ?? (isWebPage ? siteStorage("sessionStorage") : memoryStorage());
  const key = `${settings.scope}:verifier`;
  const { prefix } = settings;
  const parts = { transport, sessions, storage, key, isWebPage, base64url, LatchkeyError, unexpected };
  let result: RedirectResult | null = null;

  /** Verifier that this browser keeps, and the time of its making. */
  const kept = (): string[] => storage.get(key)?.split(" ") ?? [];

  const use: OAuth["use"] = async (work) => {
    let flow: Flow;
    try {
      flow = (await import("./oauth-flow.js")).createFlow(parts);
    } catch (cause) {
      return failure(unreachable(cause));
    }
    const done = await work(flow, kept()[0]);
    if (!done.error) result = null;
    return done;
  };

  /** Outcome in the address, which is taken out of the address bar. */
  function readResult(): RedirectResult | null {
    const url = location.href;
    const told = readRedirectResult(url, prefix);
    // Without the prefix an `error` in the address is the app's own, unless the user was just at a provider.
    const error = parameterOf(url, "error");
    const isBack = !told && error && Date.now() - Number(kept()[1] ?? 0) < VISIT;
    if (told) cleanAddress(prefix);
    if (!isBack) return told;
    storage.remove(key);
    cleanAddress(prefix, "error");
    return { status: "error", type: "oauth", error };
  }

  return {
    use,

    async readAddress() {
      if (!isWebPage || !settings.detectRedirect) return;
      const code = parameterOf(location.href, `${prefix}_code`);
      result = readResult();
      if (!code) return;
      cleanAddress(prefix);
      const { error } = await use((flow, verifier) => flow.exchange(code, verifier));
      if (error) result = { status: "error", type: "oauth", error: error.message };
    },

    takeResult: () => (isPage() && (result = readResult() ?? result)) || null,

    forgetResult() {
      result = null;
    },
  };
}

/** Takes the service's parameters out of the address bar. Some browsers limit such changes, some frames refuse them. */
function cleanAddress(prefix: string, ...more: string[]): void {
  try {
    history.replaceState(history.state, "", withoutRedirectParameters(location.href, prefix, ...more));
  } catch {
    // It stays there and does no harm: a code is good once, and only with its verifier.
  }
}
