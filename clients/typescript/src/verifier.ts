// PKCE (RFC 7636): verifiers, and their challenges by S256.
import type { base64url } from "./claims.js";

type Encode = typeof base64url;

/** New verifier: 256 random bits, 43 characters. The runtime must have `crypto.getRandomValues`. */
export const newVerifier = (encode: Encode): string => encode(crypto.getRandomValues(new Uint8Array(32)));

/** Challenge of a verifier: its SHA-256. Without WebCrypto (React Native, pages over http) sha256.ts is loaded. */
export async function challengeOf(verifier: string, encode: Encode): Promise<string> {
  const bytes = Uint8Array.from(verifier, (character) => character.charCodeAt(0));
  const { subtle } = crypto;
  if (subtle) return encode(new Uint8Array(await subtle.digest("SHA-256", bytes)));
  return encode((await import("./sha256.js")).sha256(bytes));
}
