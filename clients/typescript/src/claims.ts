// Decoding of tokens without verification, for the times of the client's own session. To rely on a token, verify it with
// access-token.ts.

/** Claims of an access token (RFC 9068 and RFC 7519), with those of this service. */
export interface AccessTokenClaims {
  iss: string;
  aud: string | string[];
  /** Id of the user. */
  sub: string;
  /** Id of the session. */
  sid: string;
  role: string;
  email: string;
  email_verified: boolean;
  /** Time of the user's authentication, in seconds since 1970. */
  auth_time: number;
  /** Authentication methods (RFC 8176). */
  amr: string[];
  /** Level of the authentication: 2 if two factors were shown. Tokens have it only then; `verifyAccessToken` fills in 1. */
  aal?: number;
  iat: number;
  exp: number;
  nbf?: number;
  jti: string;
  [claim: string]: unknown;
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// React Native has neither `atob` nor `TextDecoder`, so both directions are implemented here.

/** Decodes base64url without padding; throws on other characters. */
export function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  for (const character of base64url) {
    const value = ALPHABET.indexOf(character);
    if (value < 0) throw new TypeError("not base64url");
    held = (held << 6) | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 255);
  }
  return Uint8Array.from(bytes);
}

/** Encodes bytes as base64url without padding. */
export function base64url(bytes: Uint8Array): string {
  let text = "";
  for (let bit = 0; bit < bytes.length * 8; bit += 6) {
    const pair = ((bytes[bit >> 3] as number) << 8) | (bytes[(bit >> 3) + 1] ?? 0);
    text += ALPHABET[(pair >> (10 - (bit & 7))) & 63];
  }
  return text;
}

/** Decodes one part of a token to a JSON object; throws if it is none. */
export function partOf(part: string): Record<string, unknown> {
  const escaped = [...bytesOf(part)].map((byte) => `%${(byte + 256).toString(16).slice(1)}`);
  // Throws on bytes that are not UTF-8.
  const value: unknown = JSON.parse(decodeURIComponent(escaped.join("")));
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("not an object");
  return value as Record<string, unknown>;
}

/** Unverified claims of a token; empty if it cannot be decoded. */
export function claimsOf(token: string): Partial<AccessTokenClaims> {
  try {
    return partOf(token.split(".")[1] ?? "");
  } catch {
    return {};
  }
}
