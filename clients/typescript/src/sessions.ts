// The session as the operations use it: it is found, opened, kept fresh, and goes with every call that needs a user.
import { failure, type LatchkeyError, noSession, type Result, success, unexpected, unreachable } from "./errors.js";
import type { ClientOptions, Settings } from "./options.js";
import { isLasting, isOver, Refresher } from "./refresh.js";
import { Schedule } from "./schedule.js";
import { type HeldSession, hold, isAlive, type Listener, ownerOf, safely, SessionStore } from "./session-store.js";
import { createSignOuts, END_OTHERS, type SignedOut, type SignOuts } from "./sign-out.js";
import type { Request, Transport } from "./transport.js";
import type { SessionAnswer, User } from "./types.js";

/** Milliseconds after which a listener is told that nothing is known of the session yet. */
const SILENCE = 3_000;

/** A listener that `INITIAL_SESSION` tells why nothing is known. */
type InitialListener = (...news: [...Parameters<Listener>, error?: LatchkeyError | null]) => void;

/** What `signOut` takes. */
export interface SignOutInput {
  /** In server mode: the session of this token. */
  refreshToken?: string;
  /**
   * `this` (the default): the session of this client. `others`: all sessions of the user but this one, which goes on.
   * `all`: both. `SIGNED_OUT` comes at once with `this` and `all`, and not with `others`.
   */
  scope?: "this" | "others" | "all";
}

/** What an answer may be instead of a session. */
interface NoSession {
  requireEmailVerification?: boolean;
  challenge?: object;
}

/** Finds, opens and ends the session of one client. */
export class Sessions {
  readonly store: SessionStore;
  readonly refresher: Refresher;
  /** What must be done before anything is known of the session: the exchange of a code in the address. */
  beginning: Promise<unknown> = Promise.resolve();
  /** One refresh, however it ends, serves all calls until the session changes: for a client of one request. */
  refreshesOnce = false;
  readonly #schedule: Schedule | undefined;
  readonly #signOuts: SignOuts;
  /** What the last refresh said, and the session after it. */
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
    // Before all else. Until the service knows of it, its cookie is no session here.
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

  /** Takes over the session that a server rendered the page with, unless this client knows better by now. */
  hydrate({ accessToken, user }: { accessToken: string; user: User }): void {
    if (this.store.current || this.store.version) return;
    this.store.seed(accessToken, undefined, user);
    this.#schedule?.follow(this.store.current);
  }

  /** The session, refreshed where it is due; null where there is none. An error: it is not known (no network). */
  async current(): Promise<Result<HeldSession | null>> {
    await this.beginning;
    return this.fresh(true);
  }

  /** The same, for what belongs to the beginning itself; with `canAsk` also the session of another app of the site. */
  async fresh(canAsk = false): Promise<Result<HeldSession | null>> {
    const held = this.store.current;
    const isFresh = held !== null && Date.now() < held.staleAt;
    if (isFresh || !this.#settings.autoRefresh || !this.refresher.canTry(canAsk)) return success(held);
    if (isAlive(held) && this.#schedule?.isWaiting) return success(held);
    const result = await this.#renew(undefined, true);
    if (!result.error) return result;
    // Not refreshed, and good for a moment still.
    const { current } = this.store;
    if (isAlive(current)) return success(current);
    return isOver(result.error) ? success(null) : result;
  }

  /**
   * A call that needs a user. On 401 `AUTH_UNAUTHORIZED` it is repeated once, with a fresh token, of the same user: in
   * another tab somebody else may have signed in meanwhile.
   */
  async send<T>(request: Request): Promise<Result<T> & { headers: Headers }> {
    const session = await this.current();
    if (session.error) return { ...session, headers: new Headers() };
    const bearer = session.data?.accessToken;
    const answer = await this.#transport.send<T>({ ...request, bearer });
    const isRefused = bearer && answer.error?.error === "AUTH_UNAUTHORIZED";
    if (!session.data || !isRefused || !this.#settings.autoRefresh || !this.refresher.canTry(true)) return answer;
    // Meanwhile it may have been refreshed already.
    const { current } = this.store;
    const fresh = current && current.accessToken !== bearer ? success(current) : await this.#renew();
    if (fresh.error) return isOver(fresh.error) ? answer : { ...fresh, headers: new Headers() };
    if (fresh.data.accessToken === bearer || ownerOf(fresh.data) !== ownerOf(session.data)) return answer;
    return this.#transport.send<T>({ ...request, bearer: fresh.data.accessToken });
  }

  /** A call that opens a session; no other tab refreshes meanwhile, and no sign-out is on its way. */
  async open<T extends object>(request: Request): Promise<Result<T>> {
    const query = { ...request.query, client_type: this.#settings.clientType };
    void this.#signOuts.flush();
    return this.refresher.exclusively(async () => {
      const { data, error } = await this.#transport.send<T & SessionAnswer & NoSession>({ ...request, query });
      if (error) return failure(error);
      if (!(data.accessToken && data.user) && !data.requireEmailVerification && !data.challenge) {
        return failure(unexpected(200));
      }
      // An identity was linked: the same session, whose tokens stay, with a user who changed.
      const isLink = request.bearer && !data.csrfToken && !data.refreshToken;
      if (isLink && data.user) this.store.updateUser(data.user);
      // Without an access token: a challenge, or an address to be verified.
      else if (data.accessToken) this.store.take("SIGNED_IN", hold(data));
      return success(data);
    });
  }

  /** Ends the session here, then at the service. Without a network the error says why that is pending. */
  async end({ refreshToken, scope }: SignOutInput): Promise<SignedOut> {
    if (scope === "others") return { error: (await this.send(END_OTHERS)).error };
    const { store } = this;
    const isAll = scope === "all";
    // What is held ends in this very moment: the tab may be closed in the next.
    if (!store.current) await this.beginning;
    // After a reload it is not known yet what is to be ended.
    if (!refreshToken && !isAlive(store.current) && (isAll || !store.csrfToken)) await this.fresh(true);
    const { current, csrfToken } = store;
    // A token in hand may be of another session than the one that is held, which then stays.
    const isHeld = !refreshToken || refreshToken === current?.refreshToken;
    if (isHeld) store.end();
    return this.#signOuts.send({
      token: this.#settings.clientType === "web" ? csrfToken : (refreshToken ?? current?.refreshToken),
      bearer: isHeld ? current?.accessToken : undefined,
      isAll,
    });
  }

  /** The user as the service knows it now. Without a network, or of a busy service: as it was last known. */
  async user(): Promise<Result<User | null>> {
    const before = this.store.version;
    const session = await this.current();
    let why = session.error;
    if (!why) {
      if (!session.data) return success(null);
      // A refresh in this very call told it already.
      if (this.store.version !== before && session.data.user) return success(session.data.user);
      const { data, error } = await this.send<{ user: User }>({ method: "GET", path: "/api/auth/sessions/current" });
      if (data?.user) return success(this.store.updateUser(data.user));
      why = error ?? unexpected(200);
    }
    const { current } = this.store;
    if (why.error === "AUTH_UNAUTHORIZED") return current ? failure(why) : success(null);
    return current?.user && !isLasting(why) ? success(current.user) : failure(why);
  }

  /**
   * Tells a listener `INITIAL_SESSION` when `known` resolves, then every change. After a while without an answer, or with
   * an error, nothing is known of the session yet.
   */
  listen(known: Promise<{ error: LatchkeyError | null }>, tell: InitialListener): () => void {
    let stop = (): void => clearTimeout(timer);
    let isOver = false;
    const begin = (error: LatchkeyError | null): void => {
      if (isOver) return;
      isOver = true;
      stop();
      stop = this.store.listen(tell);
      safely(() => tell("INITIAL_SESSION", this.store.current, error));
    };
    const timer = setTimeout(() => begin(unreachable()), SILENCE);
    void known.then(({ error }) => begin(error));
    return () => {
      isOver = true;
      stop();
    };
  }

  /** Refreshes now, because the app asks for it. */
  async refresh(refreshToken?: string): Promise<Result<HeldSession>> {
    await this.beginning;
    if (!refreshToken && !this.refresher.canTry(true)) return failure(noSession());
    return this.#renew(refreshToken);
  }

  /** Refreshes; what failed for a reason that passes is tried again by itself, not before the service allows it. */
  async #renew(refreshToken?: string, isEarly = false): Promise<Result<HeldSession>> {
    const { store } = this;
    const last = this.#last;
    const isLast = this.refreshesOnce || (this.#schedule && Date.now() < this.#schedule.earliest);
    if (isLast && !refreshToken && last?.version === store.version) return last.result;
    const result = await this.refresher.refresh(refreshToken, isEarly);
    const { error } = result;
    // All who waited for one refresh come here with one result.
    if (error && result !== this.#last?.result) {
      if (!isOver(error)) this.#schedule?.retry(error);
      else if (isAlive(store.current)) this.#schedule?.wait(store.current);
    }
    this.#last = { result, version: store.version };
    return result;
  }

  /** The network is back. */
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
