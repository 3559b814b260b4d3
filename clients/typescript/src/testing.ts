// @latchkey/client/testing: a client for the tests of apps. It keeps its accounts in memory, sends nothing, and has a
// clock and faults that a test sets. Not here: limits, mails beyond their codes, the fields and texts of refusals, which a
// test gives to `fail` where it needs them.
import type { AppTypes, Auth, LatchkeyClient, Profiles } from "./contract.js";
import type { ErrorCode, ErrorDetails } from "./errors.js";
import { fakeAuth, fakeProfiles } from "./fake/operations.js";
import { createState } from "./fake/state.js";
import type { Metadata, User } from "./types.js";

/** Options of `createFakeClient`. */
export interface FakeOptions {
  /** Start of the clock. Default 2026-01-01, so that snapshots stay the same. */
  now?: Date;
  /** Whether a sign-up must be verified by code. Default false. */
  requireEmailVerification?: boolean;
  /** Seconds of an access token. Default 900. */
  tokenLife?: number;
}

/** Account that a test puts there. */
export interface FakeUser<M = Metadata> {
  email: string;
  password: string;
  name?: string;
  metadata?: M;
  /** Default true. */
  emailVerified?: boolean;
}

/** Operation to which a fault belongs; `*` is every one. */
export type FakeOperation = keyof Auth | `profiles.${keyof Profiles}` | "*";

/** Refusal that a test wants. */
export interface FakeFault extends ErrorDetails {
  error: ErrorCode;
  statusCode: number;
  message?: string;
}

/** Controls of a fake client. */
export interface FakeControls<M = Metadata> {
  /** Whether the network is gone: every call is `NETWORK_ERROR`, and nobody is signed out. */
  isOffline: boolean;
  /** Calls so far, in their order. */
  readonly calls: { operation: FakeOperation; input: unknown[] }[];
  /** Time of the fake, in milliseconds since 1970. */
  now(): number;
  /** Moves the clock. A session that is due is refreshed, unless the network is gone. */
  advance(milliseconds: number): void;
  /** Puts an account there. */
  addUser(user: FakeUser<M>): User<M>;
  /** Makes the next calls of an operation fail: one, or as many as `times` says. */
  fail(operation: FakeOperation, fault: FakeFault, times?: number): void;
  /** The code that was mailed to an address last. */
  codeFor(email: string): string | undefined;
  /** Ends the session at the service: the client notices at its next refresh or call. */
  endSessions(): void;
  /** Sets the outcome that `getRedirectResult` tells. */
  redirect(result: ReturnType<Auth["getRedirectResult"]>): void;
}

/** Client without a network, with the controls of a test as `fake`. */
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
