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

/** Whether a refused refresh means that there is no session any more. */
export const isOver = (error: LatchkeyError): boolean =>
  ["AUTH_UNAUTHORIZED", "INVALID_CSRF_TOKEN", "USER_BANNED"].includes(error.error);

/** Refreshes the session of a store. */
export class Refresher {
  private readonly running = new Map<string | undefined, Promise<Result<HeldSession>>>();

  constructor(
    private readonly settings: Settings,
    private readonly transport: Transport,
    private readonly store: SessionStore,
  ) {}

  /** Whether there is anything to refresh with. A page that never signed in asks nothing of the service. */
  canTry(): boolean {
    return (this.isWeb ? this.store.csrfToken : this.store.current?.refreshToken) != null;
  }

  /**
   * Refreshes, with the given token or that of the session; whoever asks meanwhile gets the same answer. A refusal ends
   * the session; with `isEarly` not before its access token ends.
   */
  refresh(refreshToken?: string, isEarly = false): Promise<Result<HeldSession>> {
    const begun = this.running.get(refreshToken);
    if (begun) return begun;
    const result = this.inTurn(refreshToken, isEarly).finally(() => this.running.delete(refreshToken));
    this.running.set(refreshToken, result);
    return result;
  }

  /** Does what changes the session while no other tab does. */
  exclusively<T>(work: (waited: boolean) => Promise<T>, patience?: number): Promise<T> {
    return this.isWeb ? exclusively(this.settings.scope, this.store.storage, work, patience) : work(false);
  }

  private get isWeb(): boolean {
    return this.settings.clientType === "web";
  }

  private inTurn(refreshToken: string | undefined, isEarly: boolean): Promise<Result<HeldSession>> {
    if (refreshToken && !this.isWeb) return this.byToken(refreshToken);
    const before = this.store.version;
    return this.exclusively(async (waited) => {
      if (waited) await this.news(before);
      const { current } = this.store;
      // Another tab was quicker; or it signed out, and there is nothing left to refresh.
      if (this.store.version !== before && (!current || Date.now() < current.staleAt)) {
        return current ? success(current) : failure(noSession());
      }
      return this.isWeb ? this.byCookie(isEarly) : this.byHeldToken(isEarly);
    });
  }

  /** Waits until the session changed, but not for long. */
  private async news(before: number): Promise<void> {
    if (this.store.version !== before) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        stop();
        clearTimeout(timer);
        resolve();
      };
      const stop = this.store.listen(done);
      const timer = setTimeout(done, NEWS_TIME);
    });
  }

  private async byCookie(isEarly: boolean): Promise<Result<HeldSession>> {
    const { csrfToken, version } = this.store;
    if (csrfToken === null) return failure(noSession());
    const result = await this.send({ headers: { "x-csrf-token": csrfToken } });
    // Somebody signed in elsewhere between the reading of the token and the sending of the cookie.
    const { csrfToken: now } = this.store;
    if (result.error && isOver(result.error) && now && now !== csrfToken) return this.byCookie(isEarly);
    return this.settled(result, version, isEarly, csrfToken);
  }

  private async byHeldToken(isEarly: boolean): Promise<Result<HeldSession>> {
    const { current, version } = this.store;
    if (!current?.refreshToken) return failure(noSession());
    return this.settled(await this.send({ body: { refreshToken: current.refreshToken } }), version, isEarly);
  }

  /** With a token in hand, which may be of another user than the session: the answer is its own in any case. */
  private async byToken(refreshToken: string): Promise<Result<HeldSession>> {
    const { current, version } = this.store;
    const result = await this.send({ body: { refreshToken } });
    const isHeld = current?.refreshToken === refreshToken;
    if (result.error && !isHeld) return result;
    return this.settled(result, version, false, undefined, result);
  }

  private async send(more: { headers?: Record<string, string>; body?: object }): Promise<Result<HeldSession>> {
    const query = { client_type: this.settings.clientType };
    const request = { method: "POST" as const, path: "/api/auth/refresh", query, ...more };
    const { data, error } = await this.transport.send<SessionAnswer>(request);
    if (error) return failure(error);
    // A network that wants a sign-in of its own answers everything with something.
    return typeof data.accessToken === "string" && data.accessToken
      ? success(hold(data, data.accessToken))
      : failure(unexpected(200));
  }

  /** Takes the answer over, unless a sign-in or sign-out that came meanwhile knows better. */
  private settled(
    result: Result<HeldSession>,
    version: number,
    isEarly: boolean,
    csrfToken?: string,
    late?: Result<HeldSession>,
  ): Result<HeldSession> {
    const { current } = this.store;
    if (this.store.version !== version) return late ?? (current ? success(current) : failure(noSession()));
    if (!result.error) this.store.take("TOKEN_REFRESHED", result.data);
    else if (isOver(result.error) && !(isEarly && isAlive(current) && result.error.statusCode === 401)) {
      this.store.lose(csrfToken);
    }
    return result;
  }
}
