// Checking an access token where it is received, in any backend: signature, times, issuer, audience and type
// (RFC 8725, RFC 9068). Revocation is the service's to know: a token is good here until it ends.
import type { AccessTokenClaims, bytesOf, partOf } from "./claims.js";
import type { LatchkeyError, Result } from "./errors.js";
import { keyOf, type Key } from "./key-set.js";

/** A token that passed, with its claims. */
export interface VerifiedToken {
  claims: AccessTokenClaims;
}

/** What the check is made against. */
export interface VerifyOptions {
  /** The address of the service; its keys are at `/.well-known/jwks.json`. */
  baseUrl: string;
  /** The issuer. Default: `baseUrl`. Another one where backends reach the service by an inner address. */
  issuer?: string;
  /** The audience. Default: the issuer. */
  audience?: string;
  /** Seconds by which clocks may differ. Default 5. */
  clockTolerance?: number;
  /** Another `fetch`. */
  fetch?: typeof fetch;
}

/** How the two algorithms are called by WebCrypto. All others are refused, whatever a key or a token says. */
const ALGORITHMS = {
  ES256: { key: { name: "ECDSA", namedCurve: "P-256" }, signature: { name: "ECDSA", hash: "SHA-256" } },
  EdDSA: { key: { name: "Ed25519" }, signature: { name: "Ed25519" } },
} as const;

/** Parts of the core. They are given, not imported: bundlers would put what two files share into a third. */
export interface Tools {
  bytesOf: typeof bytesOf;
  partOf: typeof partOf;
  LatchkeyError: typeof LatchkeyError;
}

/** Checks a token. */
export async function check(token: string, options: VerifyOptions, tools: Tools): Promise<Result<VerifiedToken>> {
  const { bytesOf, partOf, LatchkeyError } = tools;
  const refused = (refusal: Refusal): Result<never> => ({ data: null, error: new LatchkeyError(...refusal) });
  const baseUrl = addressOf(options.baseUrl);
  if (!globalThis.crypto?.subtle) return refused(CRYPTO_UNAVAILABLE);
  try {
    const [head = "", body = "", signature = "", ...rest] = token.split(".");
    const { alg, kid, typ, crit } = partOf(head);
    const isRightKind = typeof typ === "string" && /^(application\/)?at\+jwt$/i.test(typ);
    if (rest.length || !isRightKind || crit !== undefined || typeof kid !== "string") return refused(BAD);
    const key = await keyOf(`${baseUrl}/.well-known/jwks.json`, kid, options.fetch ?? fetch);
    if (key === null) return refused(UNREACHABLE);
    // The key says what it is for. A header that says otherwise is refused before anything is made of the key.
    const name = key && algorithmOf(key.jwk);
    if (!name || name !== alg) return refused(BAD);
    if (!(await isSigned(key, ALGORITHMS[name], `${head}.${body}`, bytesOf(signature)))) return refused(BAD);
    const claims = partOf(body) as AccessTokenClaims;
    return areGood(claims, baseUrl, options) ? { data: { claims }, error: null } : refused(BAD);
  } catch (error) {
    return (error as Error).name === "NotSupportedError" ? refused(CRYPTO_UNAVAILABLE) : refused(BAD);
  }
}

/** As issuers write it: no slash at the end, no default port, the host in lower case. */
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
  // An import that failed is not kept.
  key.imported ??= crypto.subtle.importKey("jwk", key.jwk, algorithm.key, false, ["verify"]).catch((error: unknown) => {
    delete key.imported;
    throw error;
  });
  const publicKey = await key.imported;
  return crypto.subtle.verify(algorithm.signature, publicKey, signature, new TextEncoder().encode(text));
}

function areGood(claims: AccessTokenClaims, baseUrl: string, options: VerifyOptions): boolean {
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

type Refusal = readonly [number, "AUTH_UNAUTHORIZED" | "NETWORK_ERROR" | "CRYPTO_UNAVAILABLE", string, object?];

/** Error of a runtime without WebCrypto, or without Ed25519 in it. */
const CRYPTO_UNAVAILABLE: Refusal = [
  0,
  "CRYPTO_UNAVAILABLE",
  "The cryptography that this needs is not there.",
  { nextActions: "Serve the page over https or from localhost; elsewhere take a runtime whose WebCrypto has Ed25519." },
];

const BAD: Refusal = [
  401,
  "AUTH_UNAUTHORIZED",
  "The access token is not good.",
  { nextActions: "Refresh the session, and send the request with the new access token." },
];

const UNREACHABLE: Refusal = [0, "NETWORK_ERROR", "The keys of the service could not be fetched."];
