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

/** Where to send the browser, as the service answers. */
interface AuthUrl {
  authUrl: string;
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
    const { provider, redirectTo, additionalParams } = input;
    return this.leave(input, async (code_challenge) => {
      const query = { ...additionalParams, redirect_uri: redirectTo, code_challenge };
      const ask = (folder: string): Promise<Result<AuthUrl>> => {
        const path = `/api/auth/oauth/${folder}${encodeURIComponent(provider)}`;
        return this.transport.send<AuthUrl>({ method: "GET", path, query });
      };
      const answer = await ask("");
      if (answer.error?.error !== "UNSUPPORTED_PROVIDER") return answer;
      // Not one of the built-in ones. Where it is no custom one either, the first answer stands.
      const custom = await ask("custom/");
      return custom.error?.error === "NOT_FOUND" ? answer : custom;
    });
  }

  /** The same, for an identity that is to be linked to the user of the session. */
  async beginLink(input: OAuthInput): Promise<Result<OAuthStart>> {
    const { provider, redirectTo, additionalParams } = input;
    const path = `/api/auth/identities/${encodeURIComponent(provider)}/link`;
    return this.leave(input, (code_challenge) => {
      const body = { redirect_uri: redirectTo, code_challenge, additionalParams };
      return this.sessions.send<AuthUrl>({ method: "POST", path, body });
    });
  }

  /** Exchanges a code for a session; without a verifier, the one that this browser keeps. */
  async exchange(code: string, codeVerifier?: string): Promise<Result<SignedIn>> {
    const verifier = codeVerifier ?? this.storage.get(this.key);
    this.storage.remove(this.key);
    if (!verifier) return failure(notBegunHere());
    // An identity is linked by the session that began it; a sign-in does not mind one.
    const { data: session } = await this.sessions.fresh();
    const body = { code, code_verifier: verifier };
    const bearer = session?.accessToken;
    return this.sessions.open<SignedIn>({ method: "POST", path: "/api/auth/oauth/exchange", body, bearer });
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

  /** Makes the verifier, asks for the address, and goes there. */
  private async leave(
    { provider, skipBrowserRedirect }: OAuthInput,
    ask: (challenge: string) => Promise<Result<AuthUrl>>,
  ): Promise<Result<OAuthStart>> {
    const leaves = this.isWebPage && !skipBrowserRedirect;
    if (leaves && !this.storage.isDurable) return failure(storageBlocked());
    const codeVerifier = newVerifier();
    const { data, error } = await ask(await challengeOf(codeVerifier));
    if (error) return failure(error);
    this.storage.set(this.key, codeVerifier);
    if (leaves) location.assign(data.authUrl);
    return success({ url: data.authUrl, provider, codeVerifier });
  }

  private readResult(): RedirectResult | null {
    const told = readRedirectResult(location.href, this.settings.prefix);
    if (told) return told;
    // Without the prefix an `error` in the address is the app's own, unless somebody has just been at a provider.
    const error = new URL(location.href).searchParams.get("error");
    if (!error || !this.storage.get(this.key)) return null;
    this.storage.remove(this.key);
    return { status: "error", type: "oauth", error };
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
