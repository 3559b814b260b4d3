// Passkeys (WebAuthn Level 3): sign-in, registration, answers to challenges, and the own list. Loaded on first use: most
// visitors have none. Parts of the core are passed in, not imported: bundlers would put shared modules into a third file.
import type { base64url, bytesOf } from "./claims.js";
import type { Auth, ChallengeAnswer, Passkeys } from "./contract.js";
import type { LatchkeyError, Result } from "./errors.js";
import type { OAuth } from "./oauth.js";
import type { Sessions } from "./sessions.js";
import type { Request, Transport } from "./transport.js";
import type { Challenge, Entrance, OwnPasskeys, RegisteredPasskey, RemovedPasskey, Schemas, User } from "./types.js";

/** Operations of `auth` about passkeys. */
export type PasskeyCalls = "signInWithPasskey" | "answerChallengeWithPasskey";

/** Operations loaded on first use: those of `auth`, and those of `auth.passkeys`. */
export type PasskeyOperations = Pick<Auth, PasskeyCalls> & Omit<Passkeys, "isSupported">;

/** Input of a registration. */
interface Registration {
  name?: string;
  conditional?: true;
  challenge?: Challenge;
}

/** Parts of a client, and functions of the core, that the operations use. */
export interface PasskeyParts {
  transport: Transport;
  sessions: Sessions;
  oauth: OAuth;
  /** `answerChallenge` of account.ts. */
  answer: (input: ChallengeAnswer<any> & { credential: object }) => Promise<Result<any>>;
  bytesOf: typeof bytesOf;
  base64url: typeof base64url;
  LatchkeyError: typeof LatchkeyError;
}

const PATH = "/api/auth/passkeys";
/** Milliseconds after which a request in an autofill gets a new ceremony. Those of the service live ten minutes. */
const RENEWAL = 480_000;
/** Milliseconds before a renewal that failed is tried again. */
const PAUSE = 30_000;

/** Result of a conditional registration that the browser does not make. */
const NONE = { data: null, error: null };

// A page has one request at a time. One in an autofill makes room for a dialog, and continues after it.
let dialogs = 0;
let pause = (): void => undefined;
let proceed = (): void => undefined;
let endAutofill = (): void => undefined;

/** Creates the operations of one client. */
export const createPasskeys = (parts: PasskeyParts): PasskeyOperations => ({
  signInWithPasskey: ({ email, autofill, signal } = {}) => {
    const begin = (): Promise<Result<Schemas["BegunPasskeySignIn"]>> =>
      post(parts, `${PATH}/authentication-options`, { email: email || undefined });
    if (autofill) return fromAutofill(parts, begin, signal);
    return inDialog(parts, async () => {
      const { data, error } = await begin();
      return error ? { data: null, error } : signIn(parts, data, signal && { signal });
    });
  },
  answerChallengeWithPasskey: ({ challenge }) =>
    inDialog(parts, async () => {
      const begun = await post<Schemas["ChallengePasskeyOptions"]>(parts, "/api/auth/challenges/passkey-options", {
        challengeId: challenge.id,
      });
      if (begun.error) return begun;
      const { data, error } = await get(parts, begun.data.options);
      return error ? { data: null, error } : parts.answer({ challenge, kind: "passkey", credential: data });
    }),
  async register(input: Registration = {}): Promise<Result<any>> {
    const can = input.conditional && (await globalThis.PublicKeyCredential?.getClientCapabilities?.());
    if (input.conditional && !can?.conditionalCreate) return NONE;
    return inDialog(parts, () => register(parts, input));
  },
  list: () => send(parts, "GET", PATH),
  rename: (id, name) => send(parts, "PATCH", at(id), { name }),
  async remove(id) {
    const result = await send<RemovedPasskey>(parts, "DELETE", at(id));
    if (result.data) tellAccepted(result.data);
    return result;
  },
});

const at = (id: string): string => `${PATH}/${encodeURIComponent(id)}`;

/** Result without the response headers. */
const plain = <T>({ data, error }: Result<T>): Result<T> => (error ? { data: null, error } : { data: data as T, error: null });

/** Sends a call of the user. */
const send = async <T>({ sessions }: PasskeyParts, method: Request["method"], path: string, body?: object): Promise<Result<T>> =>
  plain(await sessions.send<T>({ method, path, ...(body && { body }) }));

/** Sends a call without a session. */
const post = async <T>({ transport }: PasskeyParts, path: string, body: object): Promise<Result<T>> =>
  plain(await transport.send<T>({ method: "POST", path, body }));

/** Sends a call that opens a session. */
async function open<T extends object>({ sessions, oauth }: PasskeyParts, request: Request): Promise<Result<T>> {
  const result = await sessions.open<T>(request);
  if (!result.error) oauth.forgetResult();
  return result;
}

/** Runs a ceremony of this page, if the browser has passkeys. */
async function inDialog<T>(parts: PasskeyParts, work: () => Promise<Result<T>>): Promise<Result<T>> {
  if (!globalThis.PublicKeyCredential) return failed(parts, UNAVAILABLE);
  dialogs++;
  pause();
  try {
    return await work();
  } finally {
    if (!--dialogs) proceed();
  }
}

/** Offers the passkeys in the autofill of a form, until one is used, a session opens, or the app ends it. */
async function fromAutofill(
  parts: PasskeyParts,
  begin: () => Promise<Result<Schemas["BegunPasskeySignIn"]>>,
  signal: AbortSignal | undefined,
): Promise<Result<Entrance>> {
  endAutofill();
  const over = new AbortController();
  const end = (endAutofill = () => over.abort());
  const once = { signal: over.signal };
  const unlisten = parts.sessions.store.listen((event) => event === "SIGNED_IN" && end());
  signal?.addEventListener("abort", end, once);
  const wait = (ms?: number): Promise<void> =>
    new Promise((resolve) => {
      over.signal.addEventListener("abort", () => resolve());
      if (ms) setTimeout(resolve, ms);
      else proceed = resolve;
    });
  try {
    const isThere = await globalThis.PublicKeyCredential?.isConditionalMediationAvailable?.();
    if (!isThere) return failed(parts, UNAVAILABLE);
    for (let isRenewal = false; ; isRenewal = true) {
      if (dialogs) await wait();
      if (over.signal.aborted || signal?.aborted) return failed(parts, CANCELLED);
      const { data, error } = await begin();
      if (error && isRenewal && [0, 429, 503].includes(error.statusCode)) {
        await wait(Math.max(PAUSE, (error.retryAfter ?? 0) * 1000));
        continue;
      }
      if (error) return { data: null, error };
      const turn = new AbortController();
      pause = () => turn.abort();
      over.signal.addEventListener("abort", pause);
      if (dialogs || over.signal.aborted) pause();
      const timer = setTimeout(pause, RENEWAL);
      const result = await signIn(parts, data, { signal: turn.signal, mediation: "conditional" });
      clearTimeout(timer);
      if (result.error?.error !== "PASSKEY_CANCELLED" || !turn.signal.aborted) return result;
    }
  } finally {
    end();
    unlisten();
  }
}

type Asking = Pick<CredentialRequestOptions, "signal" | "mediation">;

/** Finishes a sign-in, and tells the browser which passkeys the service knows. */
async function signIn(
  parts: PasskeyParts,
  { ceremonyId, options }: Schemas["BegunPasskeySignIn"],
  asking?: Asking,
): Promise<Result<Entrance>> {
  const { data: credential, error } = await get(parts, options, asking);
  if (error) return { data: null, error };
  const request: Request = { method: "POST", path: `${PATH}/sign-in`, body: { ceremonyId, credential } };
  const result = await open<Entrance>(parts, request);
  if (result.error?.error === "UNKNOWN_PASSKEY") {
    void tell("signalUnknownCredential", { rpId: options.rpId, credentialId: credential.id });
  }
  if (result.data?.user) void tellAll(parts, result.data.user);
  return result;
}

async function register(
  parts: PasskeyParts,
  { name, conditional, challenge }: Registration,
): Promise<Result<RegisteredPasskey | null>> {
  const { sessions, transport, bytesOf } = parts;
  const challengeId = challenge?.id;
  const mediation = conditional && "conditional";
  const ask: Request = { method: "POST", path: `${PATH}/registration-options`, body: { challengeId, mediation } };
  // Without a dialog the app is not asked for a fresh authentication either.
  const by = challenge ? transport.send : (one: Request) => (conditional ? sessions.sendOnce(one) : sessions.send(one));
  const begun = (await by(ask)) as Result<Schemas["BegunPasskey"]>;
  if (begun.error) return plain<never>(begun);
  const { ceremonyId, options } = begun.data;
  const { user, excludeCredentials } = options;
  const made = await attempt(parts, () => {
    const publicKey = {
      ...options,
      challenge: bytesOf(options.challenge),
      user: { ...user, id: bytesOf(user.id) },
      excludeCredentials: excludeCredentials.map((one) => ({ ...one, id: bytesOf(one.id) })),
    } as PublicKeyCredentialCreationOptions;
    return navigator.credentials.create({ publicKey, ...(mediation && { mediation }) });
  });
  if (made.error) return conditional ? NONE : made;
  const request: Request = { method: "POST", path: PATH, body: { ceremonyId, credential: made.data, name, challengeId } };
  return challenge ? open<RegisteredPasskey>(parts, request) : plain(await sessions.send<RegisteredPasskey>(request));
}

/** Response of a passkey to options of the service. */
const get = (
  parts: PasskeyParts,
  options: Schemas["PasskeyRequestOptions"],
  asking: Asking = {},
): Promise<Result<Credential>> => {
  const { bytesOf } = parts;
  const ask = (): Promise<Credential | null> => {
    const publicKey = {
      ...options,
      challenge: bytesOf(options.challenge),
      allowCredentials: options.allowCredentials.map((one) => ({ ...one, id: bytesOf(one.id) })),
    } as PublicKeyCredentialRequestOptions;
    return navigator.credentials.get({ publicKey, ...asking });
  };
  return attempt(parts, ask, asking.signal);
};

/** Binary parts of a response, of any kind. */
const BINARY = ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"] as const;

type Given = { [Part in (typeof BINARY)[number]]?: ArrayBuffer | null } & { getTransports?: () => string[] };

/** Asks the browser for a credential, in the form of its `toJSON()`. Older browsers and some extensions lack that. */
async function attempt(
  parts: PasskeyParts,
  ask: () => Promise<Credential | null>,
  signal?: AbortSignal,
): Promise<Result<Credential>> {
  try {
    const credential = (await ask()) as PublicKeyCredential | null;
    if (!credential) return failed(parts, CANCELLED);
    const { id, type } = credential;
    const given = credential.response as Given;
    const response: Record<string, unknown> = { transports: given.getTransports?.() };
    for (const name of BINARY) if (given[name]) response[name] = parts.base64url(new Uint8Array(given[name]));
    return { data: { id, rawId: id, type, response } as Credential, error: null };
  } catch (cause) {
    // An app may abort with a reason of its own.
    const refusal = signal?.aborted ? CANCELLED : REFUSALS[(cause as Error).name];
    return failed(parts, refusal ?? UNAVAILABLE, cause);
  }
}

/** Tells the app or device that stores passkeys about a change. It may not listen, and that is no error. */
async function tell(signal: string, facts: object): Promise<void> {
  try {
    await (PublicKeyCredential as unknown as Record<string, ((facts: object) => Promise<void>) | undefined>)[signal]?.(facts);
  } catch {
    // Told at the next sign-in.
  }
}

const tellAccepted = ({ rpId, userHandle: userId, acceptedCredentialIds: allAcceptedCredentialIds }: Schemas["AcceptedPasskeys"]) =>
  void tell("signalAllAcceptedCredentials", { rpId, userId, allAcceptedCredentialIds });

/** Tells which passkeys of the user there are, and the names of the user. */
async function tellAll(parts: PasskeyParts, { email, profile }: User): Promise<void> {
  if (!("signalAllAcceptedCredentials" in PublicKeyCredential)) return;
  const { data } = await send<OwnPasskeys>(parts, "GET", PATH);
  if (!data) return;
  tellAccepted(data);
  const { rpId, userHandle: userId } = data;
  // A guest has no address.
  if (email) void tell("signalCurrentUserDetails", { rpId, userId, name: email, displayName: profile.name || email });
}

type Refusal = readonly [number, "PASSKEYS_UNAVAILABLE" | "PASSKEY_CANCELLED" | "PASSKEY_EXISTS", string, string];

const failed = ({ LatchkeyError }: PasskeyParts, [status, code, message, nextActions]: Refusal, cause?: unknown): Result<never> => ({
  data: null,
  error: new LatchkeyError(status, code, message, { nextActions, cause }),
});

const CANCELLED: Refusal = [0, "PASSKEY_CANCELLED", "No passkey was used.", "Try again, or sign in another way."];

const UNAVAILABLE: Refusal = [
  0,
  "PASSKEYS_UNAVAILABLE",
  "Passkeys cannot be used here.",
  "Use another browser or device. Passkeys need https, or localhost, and an origin that the service allows.",
];

/** Refusals of the browser by name; others mean that it cannot. */
const REFUSALS: Record<string, Refusal> = {
  NotAllowedError: CANCELLED,
  AbortError: CANCELLED,
  InvalidStateError: [409, "PASSKEY_EXISTS", "This device has a passkey of the account already.", "Use it to sign in."],
};
