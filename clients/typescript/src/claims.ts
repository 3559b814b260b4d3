// Reading a token without checking it, for the times of one's own session. Who relies on a token checks it with
// access-token.ts.

/** The claims of an access token (RFC 9068 and RFC 7519), with those of this service. */
export interface AccessTokenClaims {
  iss: string;
  aud: string | string[];
  /** The id of the user. */
  sub: string;
  /** The id of the session. */
  sid: string;
  role: string;
  email: string;
  email_verified: boolean;
  /** When the user proved who they are, in seconds since 1970. */
  auth_time: number;
  /** How (RFC 8176). */
  amr: string[];
  iat: number;
  exp: number;
  nbf?: number;
  jti: string;
  [claim: string]: unknown;
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// React Native has neither `atob` nor `TextDecoder`, so both directions are written out.

/** Bytes of base64url without padding; throws on other characters. */
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

/** Base64url of bytes, without padding. */
export function base64url(bytes: Uint8Array): string {
  let text = "";
  for (let bit = 0; bit < bytes.length * 8; bit += 6) {
    const pair = ((bytes[bit >> 3] as number) << 8) | (bytes[(bit >> 3) + 1] ?? 0);
    text += ALPHABET[(pair >> (10 - (bit & 7))) & 63];
  }
  return text;
}

/** JSON object in one part of a token; throws if there is none. */
export function partOf(part: string): Record<string, unknown> {
  const escaped = [...bytesOf(part)].map((byte) => `%${(byte + 256).toString(16).slice(1)}`);
  // Throws on bytes that are not UTF-8.
  const value: unknown = JSON.parse(decodeURIComponent(escaped.join("")));
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("not an object");
  return value as Record<string, unknown>;
}

/** Unchecked claims of a token; none if it cannot be read. */
export function claimsOf(token: string): Partial<AccessTokenClaims> {
  try {
    return partOf(token.split(".")[1] ?? "");
  } catch {
    return {};
  }
}
