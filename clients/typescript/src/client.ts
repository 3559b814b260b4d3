// Assembly of a client.
import { createAuth } from "./auth.js";
import type { AppTypes, LatchkeyClient, Profiles } from "./contract.js";
import { unexpected } from "./errors.js";
import { late } from "./late.js";
import { createOAuth } from "./oauth.js";
import { type ClientOptions, settle } from "./options.js";
import { Sessions } from "./sessions.js";
import type { Storage } from "./storage.js";
import { createTransport } from "./transport.js";

/** Creates a client. Throws a `TypeError` if `baseUrl` is not a valid URL of a service. */
export const createClient = <Types extends AppTypes = AppTypes>(options: ClientOptions): LatchkeyClient<Types> =>
  assemble(options).client as LatchkeyClient<Types>;

/** Client with the parts that `@latchkey/client/ssr` needs; `storage` holds the PKCE verifiers. */
export function assemble(options: ClientOptions, storage?: Storage): { client: LatchkeyClient; sessions: Sessions } {
  const settings = settle(options);
  const transport = createTransport(settings);
  const sessions = new Sessions(settings, transport, options);
  const oauth = createOAuth(settings, transport, sessions, storage);
  sessions.refreshesOnce = storage !== undefined;
  const auth = createAuth({ settings, transport, sessions, oauth, storage, ask: options.onReauthenticationRequired });
  sessions.beginning = oauth.readAddress(auth.verifyOtp).catch(() => undefined);
  const client: LatchkeyClient = {
    auth,
    profiles: late<Profiles>("me update search get", async () =>
      (await import("./account.js")).createProfiles({ transport, sessions, unexpected }),
    ),
    hydrate: (session) => session && sessions.hydrate(session),
    close: () => sessions.close(),
  };
  return { client, sessions };
}
