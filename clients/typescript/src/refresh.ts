// Refreshing a session: one at a time in this client and across tabs. A lost network, a busy service or a limit ends
// nothing; only the service's word that the session is over does.
import { failure, LatchkeyError, noSession, type Result, success } from "./errors.js";
import { exclusively } from "./locks.js";
import type { Settings } from "./options.js";
import type { HeldSession, SessionStore } from "./session-store.js";
import type { Transport } from "./transport.js";
import type { SessionAnswer } from "./types.js";

/** Milliseconds in which the news of the tab that refreshed just now must have arrived. */
const NEWS_TIME = 500;

/** Whether a refused refresh means that there is no session any more. */
export const isOver = (error: LatchkeyError): boolean =>
  ["AUTH_UNAUTHORIZED", "INVALID_CSRF_TOKEN", "USER_BANNED"].includes(error.error);

/** Refreshes the session of a store. */
export class Refresher {
  private running: { token: string | undefined; result: Promise<Result<HeldSession>> } | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly transport: Transport,
    private readonly store: SessionStore,
  ) {}

  /** Whether there is anything to refresh with. A page that never signed in asks nothing of the service. */
  canTry(): boolean {
    return (this.isWeb ? this.store.csrfToken : this.store.current?.refreshToken) != null;
  }

  /** Refreshes, with the given token or that of the session; whoever asks meanwhile gets the same answer. */
  refresh(refreshToken?: string): Promise<Result<HeldSession>> {
    if (this.running && this.running.token === refreshToken) return this.running.result;
    const result = this.inTurn(refreshToken).finally(() => {
      if (this.running?.result === result) this.running = undefined;
    });
    this.running = { token: refreshToken, result };
    return result;
  }

  /** Does what changes the session while no other tab does. */
  exclusively<T>(work: (waited: boolean) => Promise<T>): Promise<T> {
    return this.isWeb ? exclusively(this.settings.scope, this.store.storage, work) : work(false);
  }

  private get isWeb(): boolean {
    return this.settings.clientType === "web";
  }

  private inTurn(refreshToken: string | undefined): Promise<Result<HeldSession>> {
    const before = this.store.version;
    return this.exclusively(async (waited) => {
      if (waited) await this.news(before);
      const { current } = this.store;
      // Another tab was quicker; or it signed out, and there is nothing left to refresh.
      if (this.store.version !== before && (!current || Date.now() < current.staleAt)) {
        return current ? success(current) : failure(noSession());
      }
      return this.isWeb ? this.byCookie() : this.byToken(refreshToken ?? current?.refreshToken);
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

  private async byCookie(): Promise<Result<HeldSession>> {
    const csrfToken = this.store.csrfToken;
    if (csrfToken === null) return failure(noSession());
    const result = await this.send({ headers: { "x-csrf-token": csrfToken } });
    // Somebody signed in elsewhere between the reading of the token and the sending of the cookie.
    const isRenewed = result.error?.error === "INVALID_CSRF_TOKEN" && this.store.csrfToken !== csrfToken;
    return isRenewed ? this.byCookie() : this.settled(result);
  }

  private async byToken(refreshToken: string | undefined): Promise<Result<HeldSession>> {
    if (!refreshToken) return failure(noSession());
    return this.settled(await this.send({ body: { refreshToken } }));
  }

  private async send(more: { headers?: Record<string, string>; body?: object }): Promise<Result<HeldSession>> {
    const { version } = this.store;
    const query = { client_type: this.settings.clientType };
    const answer = await this.transport.send<SessionAnswer>({
      method: "POST",
      path: "/api/auth/refresh",
      query,
      ...more,
    });
    // A sign-in or sign-out that came while this was under way knows better.
    if (this.store.version !== version) {
      const { current } = this.store;
      return current ? success(current) : failure(noSession());
    }
    if (answer.error) return failure(answer.error);
    const held = this.store.open("TOKEN_REFRESHED", answer.data);
    return held ? success(held) : failure(noSession());
  }

  private settled(result: Result<HeldSession>): Result<HeldSession> {
    if (result.error && isOver(result.error)) this.store.end();
    return result;
  }
}
