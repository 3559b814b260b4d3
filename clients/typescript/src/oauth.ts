// Sign-in with an identity provider: there with a challenge, back with a code, and the exchange.
import { cryptoUnavailable, failure, LatchkeyError, type Result, success, unexpected } from "./errors.js";
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

/** Milliseconds for a visit at a provider. */
const VISIT = 600_000;
/** Milliseconds before an exchange is tried again that nobody answered. */
const PAUSE = 1_000;

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
    const verifier = codeVerifier ?? this.kept?.[0];
    if (!verifier) return failure(notBegunHere());
    // An identity is linked by the session that began it; a sign-in does not mind one.
    const { data: session } = await this.sessions.fresh();
    const body = { code, code_verifier: verifier };
    const bearer = session?.accessToken;
    const exchange = (): Promise<Result<SignedIn>> =>
      this.sessions.open<SignedIn>({ method: "POST", path: "/api/auth/oauth/exchange", body, bearer });
    let result = await exchange();
    if (result.error?.statusCode === 0 || result.error?.statusCode === 503) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      result = await exchange();
    }
    // A code that is refused may be a stranger's: the verifier is kept for the one that is still to come.
    if (!result.error) this.storage.remove(this.key);
    return result;
  }

  /** Reads the address of the page at the start; a code is taken out of it and exchanged. */
  async readAddress(): Promise<void> {
    if (!this.isWebPage || !this.settings.detectRedirect) return;
    this.result = this.readResult();
    const code = new URL(location.href).searchParams.get(`${this.settings.prefix}_code`);
    if (!code) return;
    cleanAddress(this.settings.prefix);
    const { error } = await this.exchange(code);
    if (error) this.result = { status: "error", type: "oauth", error: error.message };
  }

  /** What the address said, at the start or now; it is taken out of the address bar. */
  takeResult(): RedirectResult | null {
    if (!isPage()) return null;
    const now = this.readResult();
    if (now) {
      this.result = now;
      cleanAddress(this.settings.prefix);
    }
    return this.result;
  }

  /** It was acted upon. */
  forgetResult(): void {
    this.result = null;
  }

  /** Makes the verifier, asks for the address, and goes there. */
  private async leave(
    { provider, skipBrowserRedirect }: OAuthInput,
    ask: (challenge: string) => Promise<Result<AuthUrl>>,
  ): Promise<Result<OAuthStart>> {
    const leaves = this.isWebPage && !skipBrowserRedirect;
    if (leaves && !this.storage.isDurable) return failure(storageBlocked());
    if (!globalThis.crypto?.subtle) return failure(cryptoUnavailable());
    const codeVerifier = newVerifier();
    const { data, error } = await ask(await challengeOf(codeVerifier));
    if (error) return failure(error);
    if (!data.authUrl) return failure(unexpected(200));
    this.forgetResult();
    this.storage.set(this.key, this.isWebPage ? `${codeVerifier} ${Date.now()}` : codeVerifier);
    if (leaves) location.assign(data.authUrl);
    return success({ url: data.authUrl, provider, codeVerifier });
  }

  /** The verifier that this browser keeps, and when it was made. */
  private get kept(): string[] | undefined {
    return this.storage.get(this.key)?.split(" ");
  }

  private readResult(): RedirectResult | null {
    const told = readRedirectResult(location.href, this.settings.prefix);
    if (told) return told;
    // Without the prefix an `error` in the address is the app's own, unless somebody has just been at a provider.
    const error = new URL(location.href).searchParams.get("error");
    const [, begunAt = 0] = this.kept ?? [];
    if (!error || !(Date.now() - Number(begunAt) < VISIT)) return null;
    this.storage.remove(this.key);
    cleanAddress(this.settings.prefix, "error");
    return { status: "error", type: "oauth", error };
  }
}

/** Takes what was told out of the address bar, if the browser lets us: some count such changes, some frames have none. */
function cleanAddress(prefix: string, ...more: string[]): void {
  try {
    history.replaceState(history.state, "", withoutRedirectParameters(location.href, prefix, ...more));
  } catch {
    // It stays there, and does no harm: a code is good once, and only with its verifier.
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
