// A client: its parts, put together.
import { Auth } from "./auth.js";
import { OAuthFlow } from "./oauth.js";
import { type ClientOptions, settle } from "./options.js";
import { Profiles } from "./profiles.js";
import { Sessions } from "./sessions.js";
import type { Storage } from "./storage.js";
import { Transport } from "./transport.js";

/** A client of one service, for one user at a time. */
export interface LatchkeyClient {
  /** Accounts and sessions. */
  readonly auth: Auth;
  /** Profiles. */
  readonly profiles: Profiles;
  /** Stops timers and listening; for clients that do not live as long as the page. */
  close(): void;
}

/** Makes a client. Throws a `TypeError` where `baseUrl` is no address. */
export const createClient = (options: ClientOptions): LatchkeyClient => assemble(options).client;

/** A client with the parts that `@latchkey/client/ssr` needs; `storage` keeps the verifier of a sign-in by OAuth. */
export function assemble(options: ClientOptions, storage?: Storage): { client: LatchkeyClient; sessions: Sessions } {
  const settings = settle(options);
  const transport = new Transport(settings);
  const sessions = new Sessions(settings, transport, options);
  const oauth = new OAuthFlow(settings, transport, sessions, storage);
  sessions.refreshesOnce = storage !== undefined;
  sessions.beginning = oauth.readAddress().catch(() => undefined);
  const client = {
    auth: new Auth(settings, transport, sessions, oauth),
    profiles: new Profiles(transport, sessions),
    close: () => sessions.close(),
  };
  return { client, sessions };
}
