// Sign-outs on their way to the service: sent at once, and kept where it was not reached, over reloads too. A page keeps
// the CSRF token of the session alone, which ends that session and no later one, and opens nothing without its cookie.
import type { LatchkeyError } from "./errors.js";
import type { Settings } from "./options.js";
import { isLasting, type Refresher } from "./refresh.js";
import type { Storage } from "./storage.js";
import type { Request, Transport } from "./transport.js";

/** The result of `signOut`. */
export interface SignedOut {
  error: LatchkeyError | null;
  /** The service was not reached. It is told when the network is back, and at the next start. */
  pending?: true;
}

/** A session to be ended. */
interface Ending {
  /** The CSRF token of a page, the refresh token of any other client. */
  token: string | null | undefined;
  bearer?: string | undefined;
  /** The other sessions of the user too. */
  isAll?: boolean;
}

/** The sign-outs of one client. */
export interface SignOuts {
  /** The tokens of the sessions that the service does not know to be over. */
  kept(): string[];
  /** Sends a sign-out without waiting for a turn: the tab may be closed in the next moment. */
  send(ending: Ending): Promise<SignedOut>;
  /** Sends what is kept, in turn with all that changes the cookie. */
  flush(): Promise<void>;
}

/** The request that ends all sessions of a user but one. */
export const END_OTHERS = { method: "DELETE", path: "/api/auth/sessions", query: { others: "true" } } as const;

/** Creates the sign-outs of one client. */
export function createSignOuts(settings: Settings, transport: Transport, refresher: Refresher, storage: Storage): SignOuts {
  const key = `${settings.scope}:sign-outs`;
  // A server answers one request and has no next start.
  const keeps = settings.clientType !== "server";
  // More than is written down, for the life of the page.
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
    const isPending = error !== null && !isLasting(error);
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
      // The answer removes the cookie: a sign-in that comes now takes its turn after it.
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

/** The requests of one sign-out. */
const attempting =
  (clientType: string, transport: Transport) =>
  async ({ token, bearer, isAll }: Ending): Promise<LatchkeyError | null> => {
    const send = async (request: Request): Promise<LatchkeyError | null> =>
      (await transport.send({ ...request, bearer, keepalive: true })).error;
    const logOut = (client_type: string, more?: object | null | "") =>
      send({ method: "POST", path: "/api/auth/logout", query: { client_type }, ...more });
    // The others first: the bearer ends with its own session.
    const others = isAll && bearer ? await send(END_OTHERS) : null;
    if (others && !isLasting(others)) return others;
    let error = await logOut(
      clientType,
      token && (clientType === "web" ? { headers: { "x-csrf-token": token } } : { body: { refreshToken: token } }),
    );
    // The cookie is of another session by now. This one ends by its bearer.
    if (bearer && error?.error === "INVALID_CSRF_TOKEN") error = await logOut("server");
    return error ?? others;
  };
