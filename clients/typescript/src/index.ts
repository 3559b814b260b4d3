// @latchkey/client: client of the Latchkey account and profile service. All public exports.
export type { VerifiedToken, VerifyOptions } from "./access-token.js";
export type { AccessTokenClaims } from "./claims.js";
export { createClient } from "./client.js";
export type {
  AppTypes,
  Auth,
  ChallengeAnswer,
  Credentials,
  IdTokenInput,
  LatchkeyClient,
  OlderRedirect,
  OtpInput,
  OwnProfile,
  Passkeys,
  PasskeySignInInput,
  Profiles,
  SearchInput,
  SearchPage,
  SendMailInput,
  SignUpInput,
  Totp,
} from "./contract.js";
export {
  type ClientErrorCode,
  type ErrorCode,
  type ErrorDetails,
  type ErrorReason,
  LatchkeyError,
  type Result,
  type ServerErrorCode,
} from "./errors.js";
export type { OAuthInput, OAuthStart, PagesInput } from "./oauth.js";
export type { ClientOptions, ClientType } from "./options.js";
export { readRedirectResult, type RedirectResult, withoutRedirectParameters } from "./redirect.js";
export type { AuthEvent } from "./session-store.js";
export type { SignOutInput } from "./sessions.js";
export type { SignedOut } from "./sign-out.js";
export type * from "./types.js";
export { verifyAccessToken } from "./verify.js";
