// Redirect results in the page URL, and access to the OAuth flow, which is in oauth-flow.ts and loaded on demand. Sign-in links
// are in late-sign-ins.ts.
import { base64url } from "./claims.js";
import type { Auth } from "./contract.js";
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
  /** Return URL; omitted (older variant): the default of the service. */
  redirectTo?: string;
  /** Extra parameters for the provider, for example `login_hint`. Parameters set by the service are ignored. */
  additionalParams?: Record<string, string>;
  /** Returns the URL without redirecting. */
  skipBrowserRedirect?: boolean;
  /**
   * Popup to redirect instead of this page: the result of `window.open()`, called in the click handler before anything is
   * awaited. It is closed if the sign-in cannot begin. `null`, from a blocked popup, means this page.
   */
  window?: Window | null;
}

/** Input of `signInWithPages`. */
export interface PagesInput extends Pick<OAuthInput, "redirectTo" | "skipBrowserRedirect" | "window"> {
  /** The page to begin at. Default: `sign-in`. */
  intent?: "sign-in" | "sign-up";
  /** Email address to fill in. */
  loginHint?: string;
  /** Language of the pages, for example `de`. Default: that of the account or the browser. */
  locale?: string;
}

/** Output of `signInWithOAuth`; `signInWithPages` has no `provider`. */
export interface OAuthStart {
  url?: string;
  provider?: string;
  /** PKCE verifier for the exchange; pages store it automatically. */
  codeVerifier?: string;
}

/** Maximum duration of a visit at a provider or at the pages in milliseconds: a sign-in there lasts half an hour, or more. */
const VISIT = 3_000_000;

/** OAuth of one client. */
export interface OAuth {
  /** Loads the flow on first use and runs the work. */
  use<T>(work: (flow: Flow) => Promise<Result<T>>): Promise<Result<T>>;
  /** Reads the page URL at the start, removes the service's parameters, and exchanges a code or the token of a sign-in link. */
  readAddress(enter: Auth["verifyOtp"]): Promise<void>;
  /** Redirect result from the URL, at the start or now. */
  takeResult(): RedirectResult | null;
  /** Clears the redirect result after use. */
  forgetResult(): void;
}

/** Creates the OAuth of one client. */
export function createOAuth(settings: Settings, transport: Transport, sessions: Sessions, given?: Storage): OAuth {
  const isWebPage = isPage() && settings.clientType === "web";
  const storage = given ?? (isWebPage ? siteStorage("sessionStorage") : memoryStorage());
  const key = `${settings.scope}:verifier`;
  const { prefix } = settings;
  /** Stored verifier and its creation time. */
  const kept = (): string[] => storage.get(key)?.split(" ") ?? [];
  const parts = { kept, settings, transport, sessions, storage, key, isWebPage, base64url, LatchkeyError, unexpected };
  let result: RedirectResult | null = null;
  /** Token of the sign-in link with which the page opened, if it did. */
  let token = "";

  const use: OAuth["use"] = async (work) => {
    let flow: Flow;
    try {
      flow = (await import("./oauth-flow.js")).createFlow(parts);
    } catch (cause) {
      return failure(unreachable(cause));
    }
    const done = await work(flow);
    if (!done.error) result = null;
    return done;
  };

  /** Redirect result in the URL; its parameters are removed from the address bar. */
  function readResult(): RedirectResult | null {
    const url = location.href;
    const told = readRedirectResult(url, prefix);
    // An `error` without the prefix is the app's own, unless the user was just at a provider.
    const error = parameterOf(url, "error");
    const isBack = !told && error && Date.now() - Number(kept()[1]) < VISIT;
    if (told) cleanAddress(prefix);
    if (!isBack) return told;
    storage.remove(key);
    cleanAddress(prefix, "error");
    return { status: "error", type: "oauth", error };
  }

  return {
    use,

    async readAddress(enter) {
      if (!isWebPage || !settings.detectRedirect) return;
      const code = parameterOf(location.href, `${prefix}_code`);
      result = readResult();
      token = (result?.type === "sign_in" && result.token) || "";
      if (!code && !token) return;
      if (token) result = null;
      else cleanAddress(prefix);
      const { error } = await (token ? enter({ token }) : use((flow) => flow.exchange(code as string)));
      if (!error) return;
      const type = token ? "sign_in" : "oauth";
      result = error.error === "INVALID_CODE" ? { status: "ready", type, needsCode: true } : { status: "error", type, error: error.message };
    },

    takeResult() {
      const told = isPage() && readResult();
      // Some routers put the parameters back after the start, when the token is used up.
      if (told && told.token !== token) result = told;
      return result;
    },

    forgetResult() {
      result = null;
    },
  };
}

/** Removes the service's parameters from the address bar. Some browsers throttle such changes, some frames refuse them. */
function cleanAddress(prefix: string, ...more: string[]): void {
  try {
    history.replaceState(history.state, "", withoutRedirectParameters(location.href, prefix, ...more));
  } catch {
    // Harmless if it stays: a code is valid once, and only with its verifier.
  }
}
