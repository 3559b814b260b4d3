// The session as the operations use it: it is found, opened, kept fresh, and goes with every call that needs a user.
import { failure, LatchkeyError, noSession, type Result, success, unexpected } from "./errors.js";
import { type ClientOptions, isPage, type Settings } from "./options.js";
import { isOver, Refresher } from "./refresh.js";
import { Schedule } from "./schedule.js";
import { type HeldSession, isAlive, ownerOf, SessionStore } from "./session-store.js";
import type { Request, Transport } from "./transport.js";
import type { SessionAnswer, User } from "./types.js";

/** Milliseconds that a sign-out waits for the refresh of another tab. */
const SIGN_OUT_PATIENCE = 2_000;

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
  private readonly schedule: Schedule | undefined;
  /** What the last refresh said, and the session after it. */
  private last: { result: Result<HeldSession>; version: number } | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly transport: Transport,
    { accessToken, refreshToken }: Pick<ClientOptions, "accessToken" | "refreshToken">,
  ) {
    this.store = new SessionStore(settings);
    this.refresher = new Refresher(settings, transport, this.store);
    if (accessToken || refreshToken) this.store.seed(accessToken, refreshToken);
    const hasTimer = settings.clientType === "web" ? isPage() : settings.clientType !== "server";
    if (settings.autoRefresh && hasTimer) {
      this.schedule = new Schedule(() => void this.renew(undefined, true));
      this.store.listen((_, session) => this.schedule?.follow(session));
      this.schedule.follow(this.store.current);
    }
  }

  /** Takes over the session that a server rendered the page with, unless this client knows better by now. */
  hydrate({ accessToken, user }: { accessToken: string; user: User }): void {
    if (this.store.current || this.store.version) return;
    this.store.seed(accessToken, undefined, user);
    this.schedule?.follow(this.store.current);
  }

  /** The session, refreshed where it is due; null where there is none. An error: it is not known (no network). */
  async current(): Promise<Result<HeldSession | null>> {
    await this.beginning;
    return this.fresh();
  }

  /** The same, for what belongs to the beginning itself. */
  async fresh(): Promise<Result<HeldSession | null>> {
    const held = this.store.current;
    const isFresh = held !== null && Date.now() < held.staleAt;
    if (isFresh || !this.settings.autoRefresh || !this.refresher.canTry()) return success(held);
    if (isAlive(held) && this.schedule?.isWaiting) return success(held);
    const result = await this.renew(undefined, true);
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
    const answer = await this.transport.send<T>({ ...request, bearer });
    const isRefused = bearer && answer.error?.error === "AUTH_UNAUTHORIZED";
    if (!session.data || !isRefused || !this.settings.autoRefresh || !this.refresher.canTry()) return answer;
    // Meanwhile it may have been refreshed already.
    const { current } = this.store;
    const fresh = current && current.accessToken !== bearer ? success(current) : await this.renew();
    if (fresh.error) return isOver(fresh.error) ? answer : { ...fresh, headers: new Headers() };
    if (fresh.data.accessToken === bearer || ownerOf(fresh.data) !== ownerOf(session.data)) return answer;
    return this.transport.send<T>({ ...request, bearer: fresh.data.accessToken });
  }

  /** A call that opens a session; no other tab refreshes or signs out meanwhile. */
  async open<T extends object>(request: Request): Promise<Result<T>> {
    const query = { ...request.query, client_type: this.settings.clientType };
    return this.refresher.exclusively(async () => {
      const { data, error } = await this.transport.send<T & SessionAnswer & NoSession>({ ...request, query });
      if (error) return failure(error);
      if (!(data.accessToken && data.user) && !data.requireEmailVerification && !data.challenge) {
        return failure(unexpected(200));
      }
      // An identity was linked: the same session, whose tokens stay, with a user who changed.
      const isLink = request.bearer && !data.csrfToken && !data.refreshToken;
      if (isLink && data.user) this.store.updateUser(data.user);
      else this.store.open("SIGNED_IN", data);
      return success(data);
    });
  }

  /** Ends the session at the service and here. Without a network it ends here, and the error says the rest. */
  async end(refreshToken?: string): Promise<LatchkeyError | null> {
    await this.beginning;
    const { current, csrfToken } = this.store;
    const { clientType } = this.settings;
    // A token in hand may be of another session than the one that is held, which then stays.
    const isHeld = !refreshToken || refreshToken === current?.refreshToken;
    const bearer = isHeld ? current?.accessToken : undefined;
    const token = refreshToken ?? current?.refreshToken;
    // Before anything is waited for: the tab may be closed in the next moment.
    if (isHeld) this.store.end();
    const logout = { method: "POST" as const, path: "/api/auth/logout", bearer };
    return this.refresher.exclusively(async () => {
      const { error } = await this.transport.send({
        ...logout,
        query: { client_type: clientType },
        ...(csrfToken && clientType === "web" && { headers: { "x-csrf-token": csrfToken } }),
        ...(token && { body: { refreshToken: token } }),
      });
      if (error?.error !== "INVALID_CSRF_TOKEN" || !bearer) return error;
      // The cookie is of another session by now, which an app on another origin opened. This one ends by its bearer.
      return (await this.transport.send({ ...logout, query: { client_type: "server" } })).error;
    }, SIGN_OUT_PATIENCE);
  }

  /** The user as the service knows it now. Without a network, or of a busy service: as it was last known. */
  async user(): Promise<Result<User | null>> {
    const before = this.store.version;
    const session = await this.current();
    if (session.error) {
      const known = this.store.current?.user;
      return known ? success(known) : failure(session.error);
    }
    if (!session.data) return success(null);
    // A refresh in this very call told it already.
    if (this.store.version !== before && session.data.user) return success(session.data.user);
    const { data, error } = await this.send<{ user: User }>({ method: "GET", path: "/api/auth/sessions/current" });
    if (data?.user) {
      this.store.updateUser(data.user);
      return success(data.user);
    }
    const known = this.store.current?.user;
    const why = error ?? unexpected(200);
    const { statusCode } = why;
    if (why.error === "AUTH_UNAUTHORIZED") return this.store.current ? failure(why) : success(null);
    const isLasting = statusCode >= 400 && statusCode < 500 && statusCode !== 429;
    return known && !isLasting ? success(known) : failure(why);
  }

  /** Refreshes now, because somebody asks for it. */
  async refresh(refreshToken?: string): Promise<Result<HeldSession>> {
    await this.beginning;
    if (!refreshToken && !this.refresher.canTry()) return failure(noSession());
    return this.renew(refreshToken);
  }

  /** Refreshes; what failed for a reason that passes is tried again by itself. */
  private async renew(refreshToken?: string, isEarly = false): Promise<Result<HeldSession>> {
    const { last, store } = this;
    if (this.refreshesOnce && !refreshToken && last?.version === store.version) return last.result;
    const result = await this.refresher.refresh(refreshToken, isEarly);
    // All who waited for one refresh come here with one result.
    if (result.error && result !== this.last?.result) {
      if (!isOver(result.error)) this.schedule?.retry(result.error);
      else if (isAlive(store.current)) this.schedule?.wait(store.current);
    }
    this.last = { result, version: store.version };
    return result;
  }

  /** Stops timers and listening. */
  close(): void {
    this.schedule?.close();
    this.store.close();
  }
}
