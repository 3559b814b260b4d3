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

/** Bytes of base64url. */
export function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64url.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** Base64url of bytes, without padding. */
export function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
}

/** The JSON object in one part of a token; throws where it is none. */
export function partOf(part: string): Record<string, unknown> {
  const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(part)));
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("not an object");
  return value as Record<string, unknown>;
}

/** The claims of a token, unchecked; none of something that is no token. */
export function claimsOf(token: string): Partial<AccessTokenClaims> {
  try {
    return partOf(token.split(".")[1] ?? "");
  } catch {
    return {};
  }
}
