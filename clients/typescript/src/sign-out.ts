// Pending sign-outs: sent at once, and stored while the service is unreachable, across reloads too. A page stores only the
// session's CSRF token, which ends that session and no later one, and is useless without its cookie.
import type { LatchkeyError } from "./errors.js";
import type { Settings } from "./options.js";
import { isPermanent, type Refresher } from "./refresh.js";
import type { Storage } from "./storage.js";
import type { Request, Transport } from "./transport.js";

/** Result of `signOut`. */
export interface SignedOut {
  error: LatchkeyError | null;
  /** Set if the service was unreachable. The sign-out is retried when the network is back, and at the next start. */
  pending?: true;
}

/** Session to end. */
interface Ending {
  /** CSRF token of a page, refresh token of any other client. */
  token: string | null | undefined;
  bearer?: string | undefined;
  /** Also ends the other sessions of the user. */
  isAll?: boolean;
}

/** Sign-outs of one client. */
export interface SignOuts {
  /** Tokens of pending sign-outs. */
  kept(): string[];
  /** Sends a sign-out without waiting for the lock: the tab may be closed at any moment. */
  send(ending: Ending): Promise<SignedOut>;
  /** Sends pending sign-outs under the lock. */
  flush(): Promise<void>;
}

/** Request that ends all other sessions of a user. */
export const END_OTHERS = { method: "DELETE", path: "/api/auth/sessions", query: { others: "true" } } as const;

/** Creates the sign-outs of one client. */
export function createSignOuts(settings: Settings, transport: Transport, refresher: Refresher, storage: Storage): SignOuts {
  const key = `${settings.scope}:sign-outs`;
  // A server client serves one request and has no next start.
  const keeps = settings.clientType !== "server";
  // More details than are stored, for the life of the page.
  const endings = new Map<string, Ending>();
  const attempt = attempting(settings.clientType, transport);
  const kept = (): string[] => (storage.get(key) ?? "").split(" ").filter(Boolean);
  const keep = (token: string, isWanted: boolean): void => {
    const tokens = kept().filter((other) => other !== token);
    if (isWanted) tokens.push(token);
    if (tokens.length) storage.set(key, tokens.join(" "));
    else storage.remove(key);
  };
  const run = async (ending: Ending): Promise<SignedOut> => {
    const error = await attempt(ending);
    const isPending = error !== null && !isPermanent(error);
    if (!keeps || !ending.token) return { error };
    keep(ending.token, isPending);
    return isPending ? { error, pending: true } : { error };
  };
  return {
    kept,
    send(ending) {
      const { token } = ending;
      if (keeps && token) {
        endings.set(token, ending);
        keep(token, true);
      }
      const running = run(ending);
      // The response removes the cookie: a later sign-in waits for it.
      void refresher.exclusively(() => running);
      return running;
    },
    async flush() {
      if (!kept().length) return;
      await refresher.exclusively(async () => {
        for (const token of kept()) await run(endings.get(token) ?? { token });
      });
    },
  };
}

/** Sends the requests of one sign-out. */
const attempting =
  (clientType: string, transport: Transport) =>
  async ({ token, bearer, isAll }: Ending): Promise<LatchkeyError | null> => {
    const send = async (request: Request): Promise<LatchkeyError | null> =>
      (await transport.send({ ...request, bearer, keepalive: true })).error;
    const logOut = (client_type: string, more?: object | null | "") =>
      send({ method: "POST", path: "/api/auth/logout", query: { client_type }, ...more });
    // The others first: the bearer ends with its own session.
    const others = isAll && bearer ? await send(END_OTHERS) : null;
    if (others && !isPermanent(others)) return others;
    let error = await logOut(
      clientType,
      token && (clientType === "web" ? { headers: { "x-csrf-token": token } } : { body: { refreshToken: token } }),
    );
    // The cookie belongs to another session by now; end this one by its bearer.
    if (bearer && error?.error === "INVALID_CSRF_TOKEN") error = await logOut("server");
    return error ?? others;
  };
