// Proof Key for Code Exchange (RFC 7636): the verifier stays in this browser, the challenge travels.
import { base64url } from "./claims.js";

/** A new verifier: 256 random bits, 43 characters. */
export const newVerifier = (): string => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** The S256 challenge of a verifier. */
export async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return base64url(new Uint8Array(digest));
}
