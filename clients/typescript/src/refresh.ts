// Refreshing a session: one at a time in this client and across tabs. A lost network, a busy service or a limit ends
// nothing; only the service's word that the session is over does.
import { failure, LatchkeyError, noSession, type Result, success, unexpected } from "./errors.js";
import { exclusively } from "./locks.js";
import type { Settings } from "./options.js";
import { type HeldSession, hold, isAlive, type SessionStore } from "./session-store.js";
import type { Transport } from "./transport.js";
import type { SessionAnswer } from "./types.js";

/** Milliseconds in which the news of the tab that refreshed just now must have arrived. */
const NEWS_TIME = 500;
/** Milliseconds in which another tab answers that holds a live token. */
const ANSWER_TIME = 100;

/** Whether a refused refresh means that there is no session any more. */
export const isOver = (error: LatchkeyError): boolean =>
  ["AUTH_UNAUTHORIZED", "INVALID_CSRF_TOKEN", "USER_BANNED"].includes(error.error);

/** Whether the same call would fail again: not after a lost network, a limit, a busy service or a proxy's answer. */
export const isLasting = ({ statusCode }: LatchkeyError): boolean =>
  statusCode >= 400 && statusCode < 500 && statusCode !== 429;

/** Refreshes the session of a store. */
export class Refresher {
  readonly #running = new Map<string | undefined, Promise<Result<HeldSession>>>();

  readonly #settings: Settings;
  readonly #transport: Transport;
  readonly #store: SessionStore;

  constructor(
    settings: Settings,
    transport: Transport,
    store: SessionStore,
  ) {
    this.#settings = settings;
    this.#transport = transport;
    this.#store = store;
  }

  /**
   * Whether there is anything to refresh with. A page without a CSRF token may share the cookie of another app of its
   * site: with `canAsk` the service is asked for the token, until it is known whether there is one.
   */
  canTry(canAsk: boolean): boolean {
    const { csrfToken, current, version, isQuiet } = this.#store;
    return this.#isWeb ? csrfToken !== null || (canAsk && !version && !isQuiet) : current?.refreshToken !== undefined;
  }

  /**
   * Refreshes, with the given token or that of the session; concurrent callers share one request. A refusal ends the
   * session; with `isEarly` not before its access token ends, and a live token of another tab will do.
   */
  refresh(refreshToken?: string, isEarly = false): Promise<Result<HeldSession>> {
    const begun = this.#running.get(refreshToken);
    if (begun) return begun;
    const result = this.#inTurn(refreshToken, isEarly).finally(() => this.#running.delete(refreshToken));
    this.#running.set(refreshToken, result);
    return result;
  }

  /** Does what changes the session while no other tab does. */
  exclusively<T>(work: (waited: boolean) => Promise<T>): Promise<T> {
    return this.#isWeb ? exclusively(this.#settings.scope, this.#store.storage, work) : work(false);
  }

  get #isWeb(): boolean {
    return this.#settings.clientType === "web";
  }

  #inTurn(refreshToken: string | undefined, isEarly: boolean): Promise<Result<HeldSession>> {
    return this.#isWeb ? this.#amongTabs(isEarly) : this.#attempt(isEarly, refreshToken);
  }

  async #amongTabs(isEarly: boolean): Promise<Result<HeldSession>> {
    const { version } = this.#store;
    if (isEarly && this.#store.ask()) await this.#news(version, ANSWER_TIME);
    return (
      this.#elsewhere(version) ??
      this.exclusively(async (waited) => {
        if (waited) await this.#news(version, NEWS_TIME);
        return this.#elsewhere(version) ?? this.#attempt(isEarly);
      })
    );
  }

  /** The session after a change meanwhile: another tab was quicker, or there was a sign-in or sign-out. */
  #elsewhere(before: number): Result<HeldSession> | null {
    const { current, version } = this.#store;
    if (version === before) return null;
    return current ? success(current) : failure(noSession());
  }

  /** Waits until the session changed, but not for long. */
  async #news(before: number, patience: number): Promise<void> {
    if (this.#store.version !== before) return;
    let stop = (): void => undefined;
    await new Promise<void>((resolve) => {
      stop = this.#store.listen(() => resolve());
      setTimeout(resolve, patience);
    });
    stop();
  }

  /** Sends one refresh and takes the answer over, unless a sign-in or sign-out that came meanwhile knows better. */
  async #attempt(isEarly: boolean, given?: string): Promise<Result<HeldSession>> {
    const { current, csrfToken, version } = this.#store;
    const token = given ?? current?.refreshToken;
    const result = this.#isWeb ? await this.#byCookie(csrfToken) : await this.#send({ body: { refreshToken: token } });
    // A token in hand may be of another user than the session: the answer is its own in any case.
    const late = given ? this.#store.version !== version && result : this.#elsewhere(version);
    if (late) return late;
    const { data, error } = result;
    if (data) {
      const isOther = data.csrfToken && data.csrfToken !== csrfToken;
      this.#store.take(isOther ? "SIGNED_IN" : "TOKEN_REFRESHED", data);
    } else if (isOver(error) && token === current?.refreshToken) {
      const isGood = isEarly && isAlive(current) && error.statusCode === 401;
      if (!isGood) this.#store.lose(this.#isWeb ? csrfToken : undefined);
    }
    return result;
  }

  async #byCookie(csrfToken: string | null): Promise<Result<HeldSession>> {
    const send = (token: string): Promise<Result<HeldSession>> => this.#send({ headers: { "x-csrf-token": token } });
    const result = csrfToken === null ? failure(noSession()) : await send(csrfToken);
    // A sign-in in another tab came between the reading of the token and the sending of the cookie.
    const { csrfToken: now } = this.#store;
    if (result.error && isOver(result.error) && now && now !== csrfToken) return send(now);
    if (csrfToken !== null && result.error?.error !== "INVALID_CSRF_TOKEN") return result;
    // The cookie may be that of another app of the site.
    const { data, error } = await this.#transport.send<SessionAnswer>({ method: "GET", path: "/api/auth/csrf" });
    if (data?.csrfToken && data.csrfToken !== csrfToken) return send(data.csrfToken);
    return error && !isLasting(error) ? failure(error) : result;
  }

  async #send(more: { headers: Record<string, string> } | { body: object }): Promise<Result<HeldSession>> {
    const query = { client_type: this.#settings.clientType };
    const request = { method: "POST" as const, path: "/api/auth/refresh", query, ...more };
    const { data, error } = await this.#transport.send<SessionAnswer>(request);
    if (error) return failure(error);
    // A network that wants a sign-in of its own answers everything with something.
    return data.accessToken ? success(hold(data)) : failure(unexpected(200));
  }
}
