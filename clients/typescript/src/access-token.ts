// Verification of access tokens in any backend: signature, times, issuer, audience and type (RFC 8725, RFC 9068). Only
// the service knows about revocation: a token is valid here until it expires.
import type { AccessTokenClaims, bytesOf, partOf } from "./claims.js";
import type { ErrorCode, LatchkeyError, Result } from "./errors.js";
import { keyOf, type Key } from "./key-set.js";

/** Verified token with its claims. */
export interface VerifiedToken {
  claims: AccessTokenClaims & { aal: number };
}

/** Options of `verifyAccessToken`. */
export interface VerifyOptions {
  /** URL of the service; its keys are at `/.well-known/jwks.json`. */
  baseUrl: string;
  /** Expected issuer. Default: `baseUrl`. Set it if backends reach the service by an internal URL. */
  issuer?: string;
  /** Expected audience. Default: the issuer. */
  audience?: string;
  /** Lowest accepted level: 2 demands two factors; a token below it is `LEVEL_TOO_LOW`. */
  minLevel?: 1 | 2;
  /** Seconds since the user's authentication, at most; an older one is `TOO_OLD`. */
  maxAge?: number;
  /** Allowed clock skew in seconds. Default 5. */
  clockTolerance?: number;
  /** Custom `fetch`. */
  fetch?: typeof fetch;
}

/** The two accepted algorithms, as WebCrypto names them. All others are refused, whatever a key or a token says. */
const ALGORITHMS = {
  ES256: { key: { name: "ECDSA", namedCurve: "P-256" }, signature: { name: "ECDSA", hash: "SHA-256" } },
  EdDSA: { key: { name: "Ed25519" }, signature: { name: "Ed25519" } },
} as const;

/** Parts of the core, passed in instead of imported: bundlers would put shared modules into a third file. */
export interface Tools {
  bytesOf: typeof bytesOf;
  partOf: typeof partOf;
  LatchkeyError: typeof LatchkeyError;
}

/** Verifies a token. */
export async function check(token: string, options: VerifyOptions, tools: Tools): Promise<Result<VerifiedToken>> {
  const { bytesOf, partOf, LatchkeyError } = tools;
  const refused = (refusal: Refusal): Result<never> => ({ data: null, error: new LatchkeyError(...refusal) });
  const baseUrl = addressOf(options.baseUrl);
  if (!globalThis.crypto?.subtle) return refused(CRYPTO_UNAVAILABLE);
  try {
    const [head = "", body = "", signature = "", ...rest] = token.split(".");
    const { alg, kid, typ, crit } = partOf(head);
    const isRightKind = typeof typ === "string" && /^(application\/)?at\+jwt$/i.test(typ);
    if (rest.length || !isRightKind || crit !== undefined || typeof kid !== "string") return refused(INVALID_TOKEN);
    const key = await keyOf(`${baseUrl}/.well-known/jwks.json`, kid, options.fetch ?? fetch);
    if (key === null) return refused(UNREACHABLE);
    // The key determines the algorithm. A different `alg` in the header is refused before the key is imported.
    const name = key && algorithmOf(key.jwk);
    if (!name || name !== alg) return refused(INVALID_TOKEN);
    if (!(await isSigned(key, ALGORITHMS[name], `${head}.${body}`, bytesOf(signature)))) return refused(INVALID_TOKEN);
    const claims = partOf(body) as AccessTokenClaims;
    if (!areValid(claims, baseUrl, options)) return refused(INVALID_TOKEN);
    claims.aal ??= 1;
    const shortfall = shortfallOf(claims, options);
    return shortfall ? refused(shortfall) : { data: { claims: claims as VerifiedToken["claims"] }, error: null };
  } catch (error) {
    return (error as Error).name === "NotSupportedError" ? refused(CRYPTO_UNAVAILABLE) : refused(INVALID_TOKEN);
  }
}

/** Normalised URL, as issuers write it: no trailing slash, no default port, lower-case host. */
const addressOf = (baseUrl: string): string => new URL(baseUrl).href.replace(/\/+$/, "");

function algorithmOf({ kty, crv, alg }: Key["jwk"]): keyof typeof ALGORITHMS | undefined {
  const name = kty === "EC" && crv === "P-256" ? "ES256" : kty === "OKP" && crv === "Ed25519" ? "EdDSA" : undefined;
  return alg === undefined || alg === name ? name : undefined;
}

async function isSigned(
  key: Key,
  algorithm: (typeof ALGORITHMS)[keyof typeof ALGORITHMS],
  text: string,
  signature: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  // A failed import is not cached.
  key.imported ??= crypto.subtle.importKey("jwk", key.jwk, algorithm.key, false, ["verify"]).catch((error: unknown) => {
    delete key.imported;
    throw error;
  });
  const publicKey = await key.imported;
  return crypto.subtle.verify(algorithm.signature, publicKey, signature, new TextEncoder().encode(text));
}

function areValid(claims: AccessTokenClaims, baseUrl: string, options: VerifyOptions): boolean {
  const issuer = options.issuer ?? baseUrl;
  const audience = options.audience ?? issuer;
  const tolerance = options.clockTolerance ?? 5;
  const now = Date.now() / 1000;
  const { iss, aud, sub, exp, nbf } = claims;
  return (
    iss === issuer &&
    (Array.isArray(aud) ? aud : [aud]).includes(audience) &&
    typeof sub === "string" &&
    Number.isFinite(exp) &&
    exp + tolerance > now &&
    (nbf === undefined || (Number.isFinite(nbf) && nbf - tolerance <= now))
  );
}

/** Refusal of a valid token that is too weak or too old for this call. Anything but a number meets no demand. */
function shortfallOf(
  { aal, auth_time }: AccessTokenClaims,
  { minLevel, maxAge, clockTolerance = 5 }: VerifyOptions,
): Refusal | undefined {
  if (minLevel !== undefined && !(Number(aal) >= minLevel)) return LEVEL_TOO_LOW;
  const isTooOld = maxAge !== undefined && !(auth_time + maxAge + clockTolerance >= Date.now() / 1000);
  return isTooOld ? TOO_OLD : undefined;
}

type Refusal = readonly [number, ErrorCode, string, object?];

/** Error of a runtime without WebCrypto, or without Ed25519. */
const CRYPTO_UNAVAILABLE: Refusal = [
  0,
  "CRYPTO_UNAVAILABLE",
  "The required cryptography is not available.",
  { nextActions: "Serve the page over https or from localhost; elsewhere use a runtime with Ed25519 in WebCrypto." },
];

const INVALID_TOKEN: Refusal = [
  401,
  "AUTH_UNAUTHORIZED",
  "The access token is not valid.",
  { nextActions: "Refresh the session, and send the request with the new access token." },
];

const LEVEL_TOO_LOW: Refusal = [
  403,
  "LEVEL_TOO_LOW",
  "This call needs a sign-in with two factors.",
  { nextActions: "Turn on two-step sign-in, or reauthenticate, and send the request with the new access token." },
];

const TOO_OLD: Refusal = [
  403,
  "TOO_OLD",
  "The authentication of this session is too long ago.",
  { nextActions: "Reauthenticate, and send the request with the new access token." },
];

const UNREACHABLE: Refusal = [0, "NETWORK_ERROR", "The keys of the service could not be fetched."];
