// Sign-in with an identity provider: authorization code flow with PKCE. Loaded when a sign-in begins or a code arrives, so
// that apps without providers do not include it. Sign-in by mail is in the same chunk, because both make verifiers. Parts of
// the core are passed in, not imported: bundlers would put shared modules into a third file.
import type { base64url } from "./claims.js";
import type { LatchkeyError, Result, unexpected } from "./errors.js";
import type { OAuthInput, OAuthStart, PagesInput } from "./oauth.js";
import type { Settings } from "./options.js";
import type { Sessions } from "./sessions.js";
import type { Storage } from "./storage.js";
import type { Transport } from "./transport.js";
import type { Entrance } from "./types.js";
import { challengeOf, newVerifier } from "./verifier.js";

export { createLateSignIns } from "./late-sign-ins.js";

/** Response with the provider's authorization URL. */
interface AuthUrl {
  authUrl: string;
}

/** Parts of a client used by the flow. */
export interface FlowParts {
  settings: Pick<Settings, "publicUrl">;
  /** Stored verifier and its creation time. */
  kept(): string[];
  transport: Transport;
  sessions: Sessions;
  /** Storage of the verifier, and its key there. */
  storage: Storage;
  key: string;
  isWebPage: boolean;
  base64url: typeof base64url;
  LatchkeyError: typeof LatchkeyError;
  unexpected: typeof unexpected;
}

/** OAuth flow of one client. */
export interface Flow {
  /** Requests the provider's URL, and redirects to it unless `skipBrowserRedirect` is set. `more` follows a provider alone. */
  begin(input: OAuthInput | string, more?: object): Promise<Result<OAuthStart>>;
  /** Like `begin`, at the pages of the service instead of a provider. */
  beginPages(input?: PagesInput): Promise<Result<OAuthStart>>;
  /** Like `begin`, to link the identity to the signed-in user. */
  beginLink(input: OAuthInput): Promise<Result<OAuthStart>>;
  /** Exchanges a code for a session, with the stored verifier unless one is given. */
  exchange(code: string, codeVerifier?: string): Promise<Result<Entrance>>;
}

/** Milliseconds before an exchange without a response is retried. */
const PAUSE = 1_000;

/** Creates the flow of one client. */
export const createFlow = (parts: FlowParts): Flow => ({
  begin(given, more) {
    const input = typeof given === "string" ? { ...more, provider: given } : given;
    return leave(parts, input, (challenge) => askForSignIn(parts, input, challenge));
  },
  beginPages: (input = {}) => leave(parts, input, async (challenge) => success({ authUrl: pageOf(parts, input, challenge) })),
  beginLink: (input) => leave(parts, input, (challenge) => askForLink(parts, input, challenge)),
  exchange: (code, codeVerifier) => exchange(parts, code, codeVerifier ?? parts.kept()[0]),
});

/** Creates the verifier, requests the URL, and redirects to it. */
async function leave(
  { storage, key, isWebPage, base64url, LatchkeyError, unexpected }: FlowParts,
  { provider, skipBrowserRedirect, window: popup }: Partial<OAuthInput>,
  ask: (challenge: string) => Promise<Result<AuthUrl>>,
): Promise<Result<OAuthStart>> {
  const leaves = isWebPage && !skipBrowserRedirect;
  const fail = (error: LatchkeyError): Result<never> => {
    popup?.close();
    return { data: null, error };
  };
  if (leaves && !storage.isDurable) return fail(new LatchkeyError(...STORAGE_BLOCKED));
  if (!globalThis.crypto?.getRandomValues) return fail(new LatchkeyError(...RANDOM_UNAVAILABLE));
  const codeVerifier = newVerifier(base64url);
  const { data, error } = await ask(await challengeOf(codeVerifier, base64url));
  if (error) return fail(error);
  if (!data.authUrl) return fail(unexpected(200));
  const note = isWebPage ? `${codeVerifier} ${Date.now()}` : codeVerifier;
  storage.set(key, note);
  if (leaves) {
    // A popup has its own `sessionStorage`, and the code arrives there.
    if (popup) keepIn(popup, key, note);
    (popup ?? globalThis).location.assign(data.authUrl);
  }
  return success({ url: data.authUrl, ...(provider && { provider }), codeVerifier });
}

/** Stores the verifier in a popup that is still empty, and so of this origin. */
function keepIn(popup: Window, key: string, note: string): void {
  try {
    popup.sessionStorage.setItem(key, note);
  } catch {
    // A popup of another origin: the app exchanges the code itself.
  }
}

/** Address of a page of the service, with the parameters of the app. */
function pageOf({ settings: { publicUrl } }: FlowParts, { intent = "sign-in", redirectTo, loginHint, locale }: PagesInput, challenge: string): string {
  const given = { redirect_uri: redirectTo, code_challenge: challenge, login_hint: loginHint, locale };
  const query = new URLSearchParams(Object.entries(given).filter((pair): pair is [string, string] => !!pair[1]));
  return `${publicUrl}/auth/${intent}?${query}`;
}

const success = <T>(data: T): Result<T> => ({ data, error: null });

async function askForSignIn(
  { transport, isWebPage }: FlowParts,
  { provider, redirectTo, additionalParams }: OAuthInput,
  code_challenge: string,
): Promise<Result<AuthUrl>> {
  // A page sends its client type, so that the service binds the flow to this browser by a cookie.
  const client_type = isWebPage ? "web" : undefined;
  const query = { ...additionalParams, redirect_uri: redirectTo, code_challenge, client_type };
  const ask = (folder: string): Promise<Result<AuthUrl>> => {
    const path = `/api/auth/oauth/${folder}${encodeURIComponent(provider)}`;
    return transport.send<AuthUrl>({ method: "GET", path, query });
  };
  const answer = await ask("");
  if (answer.error?.error !== "UNSUPPORTED_PROVIDER") return answer;
  // Not a built-in provider. If there is no custom one either, return the first response.
  const custom = await ask("custom/");
  return custom.error?.error === "NOT_FOUND" ? answer : custom;
}

function askForLink(
  { sessions }: FlowParts,
  { provider, redirectTo, additionalParams }: OAuthInput,
  code_challenge: string,
): Promise<Result<AuthUrl>> {
  const path = `/api/auth/identities/${encodeURIComponent(provider)}/link`;
  const body = { redirect_uri: redirectTo, code_challenge, additionalParams };
  return sessions.send<AuthUrl>({ method: "POST", path, body });
}

async function exchange(
  { sessions, storage, key, LatchkeyError }: FlowParts,
  code: string,
  codeVerifier: string | undefined,
): Promise<Result<Entrance>> {
  if (!codeVerifier) return { data: null, error: new LatchkeyError(...NOT_BEGUN_HERE) };
  // Linking requires the session that began it; a sign-in ignores the bearer.
  const { data: session } = await sessions.fresh();
  const body = { code, code_verifier: codeVerifier };
  const bearer = session?.accessToken;
  const send = (): Promise<Result<Entrance>> =>
    sessions.open<Entrance>({ method: "POST", path: "/api/auth/oauth/exchange", body, bearer });
  let answer = await send();
  if ([0, 503].includes(answer.error?.statusCode as number)) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    answer = await send();
  }
  // A refused code may be foreign: keep the verifier for the expected one.
  if (!answer.error) storage.remove(key);
  return answer;
}

const STORAGE_BLOCKED = [
  0,
  "STORAGE_BLOCKED",
  "This browser stores no data for this site.",
  { nextActions: "Allow cookies and site data for this site and try again." },
] as const;

const RANDOM_UNAVAILABLE = [
  0,
  "CRYPTO_UNAVAILABLE",
  "This runtime has no crypto.getRandomValues.",
  { nextActions: "Load a polyfill before the client, for example react-native-get-random-values." },
] as const;

const NOT_BEGUN_HERE = [
  400,
  "INVALID_OAUTH_CODE",
  "This sign-in was not begun in this browser tab.",
  { nextActions: "Start the sign-in with the provider again." },
] as const;
