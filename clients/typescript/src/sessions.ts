// Session lifecycle for the operations: restored, opened, refreshed, and sent with every call that needs a user.
import { failure, type LatchkeyError, noSession, type Result, success, unexpected, unreachable } from "./errors.js";
import type { ClientOptions, Settings } from "./options.js";
import { isPermanent, isOver, Refresher } from "./refresh.js";
import { Schedule } from "./schedule.js";
import { type HeldSession, hold, isAlive, type Listener, ownerOf, safely, SessionStore } from "./session-store.js";
import { createSignOuts, END_OTHERS, type SignedOut, type SignOuts } from "./sign-out.js";
import type { Answer, Request, Transport } from "./transport.js";
import type { Challenge, User } from "./types.js";
import type { SessionAnswer } from "./wire.js";

/** Milliseconds after which `INITIAL_SESSION` reports an unknown session. */
const INITIAL_TIMEOUT = 3_000;

/** Options of `signOut`. */
export interface SignOutInput {
  /** Refresh token of the session to end, in server mode. */
  refreshToken?: string;
  /**
   * `this` (default): the session of this client. `others`: all other sessions of the user. `all`: both. `this` and `all`
   * emit `SIGNED_OUT` at once, `others` does not.
   */
  scope?: "this" | "others" | "all";
}

/** Response without a session. */
interface NoSession {
  requireEmailVerification?: boolean;
  challenge?: Challenge;
}

/** Session of one client. */
export class Sessions {
  readonly store: SessionStore;
  readonly refresher: Refresher;
  /** Work before the session is known: the exchange of a code in the URL. */
  beginning: Promise<unknown> = Promise.resolve();
  /** Asks the app for a fresh authentication; true if there was one. */
  stepUp: (() => Promise<boolean>) | undefined;
  /** Limits the client to one refresh until the session changes; for clients of one request. */
  refreshesOnce = false;
  readonly #schedule: Schedule | undefined;
  readonly #signOuts: SignOuts;
  /** Result of the last refresh, and the session version after it. */
  #last: { result: Result<HeldSession>; version: number } | undefined;

  readonly #settings: Settings;
  readonly #transport: Transport;

  constructor(
    settings: Settings,
    transport: Transport,
    { accessToken, refreshToken }: Pick<ClientOptions, "accessToken" | "refreshToken">,
  ) {
    this.#settings = settings;
    this.#transport = transport;
    this.store = new SessionStore(settings);
    this.refresher = new Refresher(settings, transport, this.store);
    this.#signOuts = createSignOuts(settings, transport, this.refresher, this.store.storage);
    // Until a pending sign-out is sent, its cookie is not a session here.
    if (this.#signOuts.kept().length) this.store.version = 1;
    void this.#signOuts.flush();
    if (accessToken || refreshToken) this.store.seed(accessToken, refreshToken);
    globalThis.addEventListener?.("online", this.#online);
    if (settings.autoRefresh && this.store.isLive) {
      this.#schedule = new Schedule(() => void this.#renew(undefined, true));
      this.store.listen((_, session) => this.#schedule?.follow(session));
      this.#schedule.follow(this.store.current);
    }
  }

  /** Adopts the session with which a server rendered the page, unless this client has newer information. */
  hydrate({ accessToken, user }: { accessToken: string; user: User }): void {
    if (this.store.current || this.store.version) return;
    this.store.seed(accessToken, undefined, user);
    this.#schedule?.follow(this.store.current);
  }

  /** Session, refreshed if due; null if there is none. An error means unknown (no network). */
  async current(): Promise<Result<HeldSession | null>> {
    await this.beginning;
    return this.fresh(true);
  }

  /** Like `current`, without waiting for `beginning`; with `canAsk` also the session of another app of the site. */
  async fresh(canAsk = false): Promise<Result<HeldSession | null>> {
    const held = this.store.current;
    const isFresh = held !== null && Date.now() < held.staleAt;
    if (isFresh || !this.#settings.autoRefresh || !this.refresher.canTry(canAsk)) return success(held);
    if (isAlive(held) && this.#schedule?.isWaiting) return success(held);
    const result = await this.#renew(undefined, true);
    if (!result.error) return result;
    // Not refreshed, but still valid.
    const { current } = this.store;
    if (isAlive(current)) return success(current);
    return isOver(result.error) ? success(null) : result;
  }

  /** Sends a call that needs a user, and once more if it required a fresh authentication and now there is one. */
  async send<T>(request: Request): Promise<Answer<T>> {
    const answer = await this.sendOnce<T>(request);
    if (answer.error?.error !== "REAUTHENTICATION_REQUIRED" || !(await this.stepUp?.())) return answer;
    return this.sendOnce(request);
  }

  /**
   * Sends a call that needs a user. On 401 `AUTH_UNAUTHORIZED` it is repeated once with a fresh token of the same user:
   * another user may have signed in in another tab.
   */
  async sendOnce<T>(request: Request): Promise<Answer<T>> {
    const session = await this.current();
    if (session.error) return { ...session, headers: new Headers() };
    const bearer = session.data?.accessToken;
    const answer = await this.#transport.send<T>({ ...request, bearer });
    const isRefused = bearer && answer.error?.error === "AUTH_UNAUTHORIZED";
    if (!session.data || !isRefused || !this.#settings.autoRefresh || !this.refresher.canTry(true)) return answer;
    // It may have been refreshed already.
    const { current } = this.store;
    const fresh = current && current.accessToken !== bearer ? success(current) : await this.#renew();
    if (fresh.error) return isOver(fresh.error) ? answer : { ...fresh, headers: new Headers() };
    if (fresh.data.accessToken === bearer || ownerOf(fresh.data) !== ownerOf(session.data)) return answer;
    return this.#transport.send<T>({ ...request, bearer: fresh.data.accessToken });
  }

  /** Sends a call that opens a session, under the lock, after pending sign-outs. */
  async open<T extends object>(request: Request): Promise<Result<T>> {
    const query = { ...request.query, client_type: this.#settings.clientType };
    void this.#signOuts.flush();
    return this.refresher.exclusively(async () => {
      const { data, error } = await this.#transport.send<T & SessionAnswer & NoSession>({ ...request, query });
      if (error) return failure(error);
      this.store.face(data.challenge);
      if (!(data.accessToken && data.user) && !data.requireEmailVerification && !data.challenge) {
        return failure(unexpected(200));
      }
      // An identity was linked: same session and tokens, changed user.
      const isLink = request.bearer && !data.csrfToken && !data.refreshToken;
      if (isLink && data.user) this.store.updateUser(data.user);
      // No access token: a challenge, or an unverified address.
      else if (data.accessToken) this.store.take("SIGNED_IN", hold(data));
      return success(data);
    });
  }

  /** Ends the session here, then at the service. Without a network the sign-out is pending. */
  async end({ refreshToken, scope }: SignOutInput): Promise<SignedOut> {
    if (scope === "others") return { error: (await this.send(END_OTHERS)).error };
    const { store } = this;
    const isAll = scope === "all";
    // End a known session synchronously: the tab may be closed at any moment.
    if (!store.current) await this.beginning;
    // After a reload the session is not known yet.
    if (!refreshToken && !isAlive(store.current) && (isAll || !store.csrfToken)) await this.fresh(true);
    const { current, csrfToken } = store;
    // A given token may belong to another session; the current one then stays.
    const isHeld = !refreshToken || refreshToken === current?.refreshToken;
    if (isHeld) store.end();
    return this.#signOuts.send({
      token: this.#settings.clientType === "web" ? csrfToken : (refreshToken ?? current?.refreshToken),
      bearer: isHeld ? current?.accessToken : undefined,
      isAll,
    });
  }

  /** Current user from the service; the last known one without a network or with a busy service. */
  async user(): Promise<Result<User | null>> {
    const before = this.store.version;
    const session = await this.current();
    let why = session.error;
    if (!why) {
      if (!session.data) return success(null);
      // A refresh in this call returned it already.
      if (this.store.version !== before && session.data.user) return success(session.data.user);
      const { data, error } = await this.send<{ user: User }>({ method: "GET", path: "/api/auth/sessions/current" });
      if (data?.user) return success(this.store.updateUser(data.user));
      why = error ?? unexpected(200);
    }
    const { current } = this.store;
    if (why.error === "AUTH_UNAUTHORIZED") return current ? failure(why) : success(null);
    return current?.user && !isPermanent(why) ? success(current.user) : failure(why);
  }

  /**
   * Emits `INITIAL_SESSION` when `known` resolves, then the challenge of this page's own sign-in, if there is one, then every
   * change. After a timeout or an error the session is reported as unknown.
   */
  listen(known: Promise<{ error: LatchkeyError | null }>, tell: Listener): () => void {
    let stop = (): void => clearTimeout(timer);
    let isOver = false;
    const begin = (error: LatchkeyError | null): void => {
      if (isOver) return;
      isOver = true;
      stop();
      stop = this.store.listen(tell);
      const { challenge, current } = this.store;
      safely(() => tell("INITIAL_SESSION", current, error));
      if (challenge) safely(() => tell("CHALLENGED", current, null, challenge));
    };
    const timer = setTimeout(() => begin(unreachable()), INITIAL_TIMEOUT);
    void known.then(({ error }) => begin(error));
    return () => {
      isOver = true;
      stop();
    };
  }

  /** Refreshes now, on request of the app. */
  async refresh(refreshToken?: string): Promise<Result<HeldSession>> {
    await this.beginning;
    if (!refreshToken && !this.refresher.canTry(true)) return failure(noSession());
    return this.#renew(refreshToken);
  }

  /** Refreshes; a transient failure is retried automatically, not before `Retry-After`. */
  async #renew(refreshToken?: string, isEarly = false): Promise<Result<HeldSession>> {
    const { store } = this;
    const last = this.#last;
    const isLast = this.refreshesOnce || (this.#schedule && Date.now() < this.#schedule.earliest);
    if (isLast && !refreshToken && last?.version === store.version) return last.result;
    const result = await this.refresher.refresh(refreshToken, isEarly);
    const { error } = result;
    // All waiters of one refresh get here with the same result.
    if (error && result !== this.#last?.result) {
      if (!isOver(error)) this.#schedule?.retry(error);
      else if (isAlive(store.current)) this.#schedule?.wait(store.current);
    }
    this.#last = { result, version: store.version };
    return result;
  }

  /** Handles the return of the network. */
  readonly #online = (): void => {
    void this.#signOuts.flush();
    this.#schedule?.hurry();
  };

  /** Stops timers and listening. */
  close(): void {
    globalThis.removeEventListener?.("online", this.#online);
    this.#schedule?.close();
    this.store.close();
  }
}
