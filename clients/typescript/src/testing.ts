// @latchkey/client/testing: a fake client for tests of apps, with accounts in memory, no network, a controllable clock and
// fault injection. Rate limits, mails beyond their codes, and fields and texts of errors are not simulated; pass them to
// `fail` if needed.
import type { AppTypes, Auth, LatchkeyClient, Passkeys, Profiles, Totp } from "./contract.js";
import type { ErrorCode, ErrorDetails } from "./errors.js";
import { fakeAuth, fakeProfiles } from "./fake/operations.js";
import { createState } from "./fake/state.js";
import type { ClientOptions } from "./options.js";
import type { Metadata, User } from "./types.js";

/** Options of `createFakeClient`. */
export interface FakeOptions extends Pick<ClientOptions, "onReauthenticationRequired"> {
  /** Initial time. Default 2026-01-01, so that snapshots stay the same. */
  now?: Date;
  /** Requires verification by code at sign-up. Default false. */
  requireEmailVerification?: boolean;
  /** Access token lifetime in seconds. Default 900. */
  tokenLife?: number;
}

/** Account added by a test. */
export interface FakeUser<M = Metadata> {
  email: string;
  password: string;
  name?: string;
  metadata?: M;
  /** Default true. */
  emailVerified?: boolean;
  /** Gives the account two-step sign-in, with an authenticator app and recovery codes. Default false. */
  twoStep?: boolean;
  /** Gives the account a passkey on the device of this client. Default false. */
  passkey?: boolean;
}

/** Operation of a fault; `*` is every one. */
export type FakeOperation =
  | Exclude<keyof Auth, "totp" | "passkeys">
  | `totp.${keyof Totp}`
  | `passkeys.${Exclude<keyof Passkeys, "isSupported">}`
  | `profiles.${keyof Profiles}`
  | "*";

/** Injected error. */
export interface FakeFault extends ErrorDetails {
  error: ErrorCode;
  statusCode: number;
  message?: string;
}

/** Controls of a fake client. */
export interface FakeControls<M = Metadata> {
  /** Simulates a lost network: every call is `NETWORK_ERROR`, and no user is signed out. */
  isOffline: boolean;
  /** Calls so far, in order. */
  readonly calls: { operation: FakeOperation; input: unknown[] }[];
  /** Current fake time, in milliseconds since 1970. */
  now(): number;
  /** Advances the clock. A session due for refresh is refreshed, unless offline. */
  advance(milliseconds: number): void;
  /** Adds an account. */
  addUser(user: FakeUser<M>): User<M>;
  /** Makes the next `times` calls of an operation fail; default one. */
  fail(operation: FakeOperation, fault: FakeFault, times?: number): void;
  /** Code last mailed to an address. */
  codeFor(email: string): string | undefined;
  /** Code that every authenticator app shows now; `advance` by 30 seconds for the next. */
  totp(): string;
  /** Chooses the newest passkey in the autofill for which `signInWithPasskey({ autofill: true })` waits. */
  choosePasskey(): void;
  /** Recovery codes of an account that are left. */
  recoveryCodesOf(email: string): string[];
  /** Ends the session at the service; the client detects it at its next refresh or call. */
  endSessions(): void;
  /** Sets the result of `getRedirectResult`. */
  redirect(result: ReturnType<Auth["getRedirectResult"]>): void;
}

/** Fake client with the test controls in `fake`. */
export interface FakeClient<Types extends AppTypes = AppTypes> extends LatchkeyClient<Types> {
  readonly fake: FakeControls<Types extends { metadata: infer Own } ? Own : Metadata>;
}

/** Creates a client for tests. */
export function createFakeClient<Types extends AppTypes = AppTypes>(options: FakeOptions = {}): FakeClient<Types> {
  const state = createState(options);
  const client: FakeClient = {
    auth: fakeAuth(state),
    profiles: fakeProfiles(state),
    hydrate: state.hydrate,
    close: () => state.listeners.clear(),
    fake: state.controls,
  };
  return client as FakeClient<Types>;
}
