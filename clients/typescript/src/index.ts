// @latchkey/client: the client of the Latchkey account and profile service. This is the table of contents.
export { type VerifiedToken, type VerifyOptions, verifyAccessToken } from "./access-token.js";
export type { Auth, IdTokenInput, OlderRedirect, SendMailInput, SignUpInput } from "./auth.js";
export type { AccessTokenClaims } from "./claims.js";
export { createClient, type LatchkeyClient } from "./client.js";
export { type ClientErrorCode, type ErrorCode, LatchkeyError, type Result, type ServerErrorCode } from "./errors.js";
export type { OAuthInput, OAuthStart } from "./oauth.js";
export type { ClientOptions, ClientType } from "./options.js";
export type { OwnProfile, Profiles, SearchInput, SearchPage } from "./profiles.js";
export { readRedirectResult, type RedirectResult, withoutRedirectParameters } from "./redirect.js";
export type { AuthEvent } from "./session-store.js";
export type {
  EndedSessions,
  FlatProfile,
  Identity,
  JwkSet,
  MailSent,
  Message,
  OwnSession,
  ProfileRecord,
  ProfileUpdate,
  PublicConfig,
  PublicProfile,
  Refreshed,
  ResetToken,
  Session,
  SignedIn,
  SignedUp,
  Unlinked,
  User,
} from "./types.js";
