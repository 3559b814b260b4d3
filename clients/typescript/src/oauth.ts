// Sign-in with an identity provider: there with a challenge, back with a code, and the exchange.
import { failure, LatchkeyError, type Result, success } from "./errors.js";
import { isPage, type Settings } from "./options.js";
import { challengeOf, newVerifier } from "./pkce.js";
import { readRedirectResult, type RedirectResult, withoutRedirectParameters } from "./redirect.js";
import type { Sessions } from "./sessions.js";
import { memoryStorage, siteStorage, type Storage } from "./storage.js";
import type { Transport } from "./transport.js";
import type { SignedIn } from "./types.js";

/** What `signInWithOAuth` takes. */
export interface OAuthInput {
  /** The key of a built-in or a custom provider. */
  provider: string;
  /** Where the browser comes back to; left out (older variant): the default of the service. */
  redirectTo?: string;
  /** Hints for the provider, for example `login_hint`. What the service sets itself is ignored. */
  additionalParams?: Record<string, string>;
  /** Returns the address and does not go there. */
  skipBrowserRedirect?: boolean;
}

/** What `signInWithOAuth` answers. */
export interface OAuthStart {
  url?: string;
  provider?: string;
  /** Goes into the exchange; a browser keeps it by itself. */
  codeVerifier?: string;
}

/** The flow of one client, and what the address bar said when it began. */
export class OAuthFlow {
  private readonly storage: Storage;
  private readonly key: string;
  private readonly isWebPage: boolean;
  private result: RedirectResult | null = null;

  constructor(
    private readonly settings: Settings,
    private readonly transport: Transport,
    private readonly sessions: Sessions,
    storage?: Storage,
  ) {
    this.isWebPage = isPage() && settings.clientType === "web";
    this.storage = storage ?? (this.isWebPage ? siteStorage("sessionStorage") : memoryStorage());
    this.key = `${settings.scope}:verifier`;
  }

  /** Asks the service for the provider's address, and goes there unless told otherwise. */
  async begin(input: OAuthInput): Promise<Result<OAuthStart>> {
    const leaves = this.isWebPage && !input.skipBrowserRedirect;
    if (leaves && !this.storage.isDurable) return failure(storageBlocked());
    const { provider } = input;
    const codeVerifier = newVerifier();
    const query = {
      ...input.additionalParams,
      redirect_uri: input.redirectTo,
      code_challenge: await challengeOf(codeVerifier),
    };
    const ask = (folder: string): Promise<Result<{ authUrl: string }>> => {
      const path = `/api/auth/oauth/${folder}${encodeURIComponent(provider)}`;
      return this.transport.send<{ authUrl: string }>({ method: "GET", path, query });
    };
    let answer = await ask("");
    if (answer.error?.error === "UNSUPPORTED_PROVIDER") {
      // Not one of the built-in ones. Where it is no custom one either, the first answer stands.
      const custom = await ask("custom/");
      if (!custom.error || custom.error.error !== "NOT_FOUND") answer = custom;
    }
    if (answer.error) return failure(answer.error);
    this.storage.set(this.key, codeVerifier);
    if (leaves) location.assign(answer.data.authUrl);
    return success({ url: answer.data.authUrl, provider, codeVerifier });
  }

  /** Exchanges a code for a session; without a verifier, the one that this browser keeps. */
  async exchange(code: string, codeVerifier?: string): Promise<Result<SignedIn>> {
    const verifier = codeVerifier ?? this.storage.get(this.key);
    this.storage.remove(this.key);
    if (!verifier) return failure(notBegunHere());
    const body = { code, code_verifier: verifier };
    return this.sessions.open<SignedIn>({ method: "POST", path: "/api/auth/oauth/exchange", body });
  }

  /** Reads the address of the page at the start; a code is taken out of it and exchanged. */
  async readAddress(): Promise<void> {
    if (!this.isWebPage || !this.settings.detectRedirect) return;
    this.result = this.readResult();
    const code = new URL(location.href).searchParams.get(`${this.settings.prefix}_code`);
    if (!code) return;
    this.cleanAddress();
    const { error } = await this.exchange(code);
    if (error) this.result = { status: "error", type: "oauth", error: error.message };
  }

  /** What the address said, at the start or now; it is taken out of the address bar. */
  takeResult(): RedirectResult | null {
    if (!isPage()) return null;
    const now = this.readResult();
    if (now) {
      this.result = now;
      this.cleanAddress();
    }
    return this.result;
  }

  private readResult(): RedirectResult | null {
    const told = readRedirectResult(location.href, this.settings.prefix);
    if (told) return told;
    // A provider's refusal comes back as `error`; another `error` in the address is the app's own.
    const error = new URL(location.href).searchParams.get("error");
    return error && this.storage.get(this.key) ? { status: "error", type: "oauth", error } : null;
  }

  private cleanAddress(): void {
    history.replaceState(history.state, "", withoutRedirectParameters(location.href, this.settings.prefix));
  }
}

const storageBlocked = (): LatchkeyError =>
  new LatchkeyError(0, "STORAGE_BLOCKED", "This browser keeps no data for this site.", {
    nextActions: "Allow cookies and site data for this site and try again.",
  });

const notBegunHere = (): LatchkeyError =>
  new LatchkeyError(400, "INVALID_OAUTH_CODE", "This sign-in was not begun in this browser tab.", {
    nextActions: "Start the sign-in with the provider again.",
  });
