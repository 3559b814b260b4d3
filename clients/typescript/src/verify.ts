// The check of access tokens with the core that it needs.
import { check, type VerifiedToken, type VerifyOptions } from "./access-token.js";
import { bytesOf, partOf } from "./claims.js";
import { LatchkeyError, type Result } from "./errors.js";

/** Checks a token. A bad one is 401 `AUTH_UNAUTHORIZED`; keys that cannot be fetched are `NETWORK_ERROR`. */
export const verifyAccessToken = (token: string, options: VerifyOptions): Promise<Result<VerifiedToken>> =>
  check(token, options, { bytesOf, partOf, LatchkeyError });
