// Session refresh: one at a time in this client and across tabs. Only an explicit refusal of the service ends the session;
// a lost network, a busy service or a rate limit does not.
import { failure, LatchkeyError, noSession, type Result, success, unexpected } from "./errors.js";
import { exclusively } from "./locks.js";
import type { Settings } from "./options.js";
import { type HeldSession, hold, isAlive, type SessionStore } from "./session-store.js";
import type { Transport } from "./transport.js";
import type { SessionAnswer } from "./wire.js";

/** Milliseconds to wait for the message of the tab that held the lock. */
const MESSAGE_TIMEOUT = 500;
/** Milliseconds to wait for a valid token from another tab. */
const TAB_TIMEOUT = 100;

/** Whether a refused refresh means that the session has ended. */
export const isOver = (error: LatchkeyError): boolean =>
  ["AUTH_UNAUTHORIZED", "INVALID_CSRF_TOKEN", "USER_BANNED"].includes(error.error);

/** Whether a retry would fail again. Network errors, rate limits, a busy service and proxy responses are transient. */
export const isPermanent = ({ statusCode }: LatchkeyError): boolean =>
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
   * Whether a refresh is possible. A page without a CSRF token may share the cookie of another app of its site: with
   * `canAsk` it may request the token from the service, until it is known whether there is a session.
   */
  canTry(canAsk: boolean): boolean {
    const { csrfToken, current, version, hasNoSession } = this.#store;
    return this.#isWeb ? csrfToken !== null || (canAsk && !version && !hasNoSession) : current?.refreshToken !== undefined;
  }

  /**
   * Refreshes with the given token or that of the session; concurrent callers share one request (single flight). A refusal
   * ends the session; with `isEarly` only after its access token expired, and a valid token of another tab is used instead.
   */
  refresh(refreshToken?: string, isEarly = false): Promise<Result<HeldSession>> {
    const begun = this.#running.get(refreshToken);
    if (begun) return begun;
    const result = this.#inTurn(refreshToken, isEarly).finally(() => this.#running.delete(refreshToken));
    this.#running.set(refreshToken, result);
    return result;
  }

  /** Runs work that changes the session under the lock of all tabs. */
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
    if (isEarly && this.#store.ask()) await this.#changed(version, TAB_TIMEOUT);
    return (
      this.#elsewhere(version) ??
      this.exclusively(async (waited) => {
        if (waited) await this.#changed(version, MESSAGE_TIMEOUT);
        return this.#elsewhere(version) ?? this.#attempt(isEarly);
      })
    );
  }

  /** Session after a concurrent change: another tab refreshed, or there was a sign-in or sign-out. */
  #elsewhere(before: number): Result<HeldSession> | null {
    const { current, version } = this.#store;
    if (version === before) return null;
    return current ? success(current) : failure(noSession());
  }

  /** Waits for a change of the session, at most `timeout` milliseconds. */
  async #changed(before: number, timeout: number): Promise<void> {
    if (this.#store.version !== before) return;
    let stop = (): void => undefined;
    await new Promise<void>((resolve) => {
      stop = this.#store.listen(() => resolve());
      setTimeout(resolve, timeout);
    });
    stop();
  }

  /** Sends one refresh and applies its result, unless a sign-in or sign-out came in between. */
  async #attempt(isEarly: boolean, given?: string): Promise<Result<HeldSession>> {
    const { current, csrfToken, version } = this.#store;
    const token = given ?? current?.refreshToken;
    const result = this.#isWeb ? await this.#byCookie(csrfToken) : await this.#send({ body: { refreshToken: token } });
    // A given token may belong to another user than the session: its result is returned in any case.
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
    // A sign-in in another tab came between reading the token and sending the cookie.
    const { csrfToken: now } = this.#store;
    if (result.error && isOver(result.error) && now && now !== csrfToken) return send(now);
    if (csrfToken !== null && result.error?.error !== "INVALID_CSRF_TOKEN") return result;
    // The cookie may be from another app of the site.
    const { data, error } = await this.#transport.send<SessionAnswer>({ method: "GET", path: "/api/auth/csrf" });
    if (data?.csrfToken && data.csrfToken !== csrfToken) return send(data.csrfToken);
    return error && !isPermanent(error) ? failure(error) : result;
  }

  async #send(more: { headers: Record<string, string> } | { body: object }): Promise<Result<HeldSession>> {
    const query = { client_type: this.#settings.clientType };
    const request = { method: "POST" as const, path: "/api/auth/refresh", query, ...more };
    const { data, error } = await this.#transport.send<SessionAnswer>(request);
    if (error) return failure(error);
    // A captive portal responds to everything.
    return data.accessToken ? success(hold(data)) : failure(unexpected(200));
  }
}
