// Verification of access tokens, with the core parts that it needs.
import { check, type VerifiedToken, type VerifyOptions } from "./access-token.js";
import { bytesOf, partOf } from "./claims.js";
import { LatchkeyError, type Result } from "./errors.js";

/** Verifies an access token. An invalid one is 401 `AUTH_UNAUTHORIZED`; unavailable keys are `NETWORK_ERROR`. */
export const verifyAccessToken = (token: string, options: VerifyOptions): Promise<Result<VerifiedToken>> =>
  check(token, options, { bytesOf, partOf, LatchkeyError });
