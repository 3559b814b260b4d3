// The session of this client, in memory: who is told when it changes, here and in other tabs. Only the CSRF token is
// written down, so that a reload can use the cookie: it is worth nothing without the cookie, which no script reads.
import { type Settings, isPage } from "./options.js";
import { memoryStorage, siteStorage, type Storage } from "./storage.js";
import { openTabs, type Tabs } from "./tabs.js";
import { claimsOf } from "./claims.js";
import type { SessionAnswer, User } from "./types.js";

/** What is held of a session; times are milliseconds by the clock of this machine, unless said otherwise. */
export interface HeldSession {
  accessToken: string;
  user: User | null;
  refreshToken?: string;
  csrfToken?: string;
  /** When the access token ends, by the clock of the service. */
  expiresAt: number;
  /** When it should be refreshed. */
  staleAt: number;
  /** When it is of no use any more. */
  deadAt: number;
}

/** What happened to the session; `INITIAL_SESSION` is said once to every listener, when it begins to listen. */
export type AuthEvent = "INITIAL_SESSION" | "SIGNED_IN" | "SIGNED_OUT" | "TOKEN_REFRESHED" | "USER_UPDATED";

/** Is told of every change. */
export type Listener = (event: AuthEvent, session: HeldSession | null) => void;

/** Refreshed so many milliseconds before the end, or at nine tenths of a life shorter than ten minutes. */
const MARGIN = 60_000;

/** Holds the session. */
export class SessionStore {
  /** Counts the sessions, so that a late answer is known to be late. */
  version = 0;
  /** The storage that tabs share; memory where there is none. */
  readonly storage: Storage;
  private held: HeldSession | null = null;
  private readonly listeners = new Set<Listener>();
  private readonly tabs: Tabs;
  private readonly csrfKey: string;

  constructor(settings: Settings) {
    const isWebPage = settings.clientType === "web" && isPage();
    this.storage = isWebPage ? siteStorage("localStorage") : memoryStorage();
    this.csrfKey = `${settings.scope}:csrf`;
    this.tabs = openTabs(isWebPage ? settings.scope : null, ({ event, session, isRefusal }) => {
      if (!isRefusal || !isAlive(this.held)) this.change(event, session);
    });
  }

  /** The session, good or expired. */
  get current(): HeldSession | null {
    return this.held;
  }

  /** The CSRF token: of storage, which a sign-in in another tab renews, before that of this page. */
  get csrfToken(): string | null {
    return this.storage.get(this.csrfKey) ?? this.held?.csrfToken ?? null;
  }

  /** Takes over the session of an answer; one without an access token (a challenge) is none. */
  open(event: AuthEvent, answer: SessionAnswer): void {
    if (answer.accessToken) this.take(event, hold(answer, answer.accessToken));
  }

  /** Takes over a session. */
  take(event: AuthEvent, held: HeldSession): void {
    if (held.csrfToken) this.storage.set(this.csrfKey, held.csrfToken);
    this.tell(event, held);
  }

  /** Begins with tokens in hand, of which at least one is there. */
  seed(accessToken: string | undefined, refreshToken?: string, user: User | null = null): void {
    this.held = { ...hold({ ...(refreshToken && { refreshToken }) }, accessToken ?? ""), user };
  }

  /** The session is over, for this client and the other tabs: somebody signed out. */
  end(): void {
    const wasThere = this.held !== null || this.csrfToken !== null;
    this.storage.remove(this.csrfKey);
    if (wasThere) this.tell("SIGNED_OUT", null);
  }

  /**
   * A refresh was refused: the session is over for this client. Other tabs may hold a token that is good: a browser that
   * blocks cookies refuses every refresh, and no session. They hear of it only from one that had a session too.
   */
  lose(csrfToken?: string): void {
    const wasHeld = this.held !== null;
    // One that was written since belongs to a newer session.
    if (!csrfToken || this.storage.get(this.csrfKey) === csrfToken) this.storage.remove(this.csrfKey);
    if (wasHeld) this.tabs.tell({ event: "SIGNED_OUT", session: null, isRefusal: true });
    this.change("SIGNED_OUT", null);
  }

  /** The user of the session as the service last told it; of another user nothing is taken over. */
  updateUser(user: User): void {
    if (!this.held || !isOf(this.held, user.id) || JSON.stringify(this.held.user) === JSON.stringify(user)) return;
    this.tell("USER_UPDATED", { ...this.held, user });
  }

  /** The profile of a user, who may not be the one of the session any more. */
  updateProfile(id: unknown, { name, avatar_url }: User["profile"]): void {
    const user = this.held?.user;
    if (user && user.id === id) this.updateUser({ ...user, profile: { name, avatar_url } });
  }

  /** Listens until the returned function is called. */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Stops listening to other tabs. */
  close(): void {
    this.listeners.clear();
    this.tabs.close();
  }

  private tell(event: AuthEvent, session: HeldSession | null): void {
    this.tabs.tell({ event, session });
    this.change(event, session);
  }

  private change(event: AuthEvent, session: HeldSession | null): void {
    if (event === "USER_UPDATED") {
      // Another tab may say it with tokens that are older than those held here.
      if (!this.held || !session?.user || !isOf(this.held, session.user.id)) return;
      session = { ...this.held, user: session.user };
    } else {
      this.version += 1;
    }
    this.held = session;
    for (const listener of [...this.listeners]) safely(() => listener(event, session));
  }
}

/** Calls what the app gave. Its mistake is the app's to see, and no reason to fail the call that brought the news. */
export function safely(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    setTimeout(() => {
      throw error;
    });
  }
}

/** Whose session it is; undefined where the token cannot be read and its user was not told. */
export const ownerOf = ({ accessToken, user }: HeldSession): string | undefined => claimsOf(accessToken).sub ?? user?.id;

const isOf = (held: HeldSession, id: string): boolean => (ownerOf(held) ?? id) === id;

/** Whether there is a token that has not ended. */
export const isAlive = (held: HeldSession | null): held is HeldSession => held !== null && Date.now() < held.deadAt;

/** A life for a token that cannot be read, so that it is refreshed neither at once nor never. */
const UNKNOWN_LIFE = 300_000;

/** Reads an answer. */
export function hold(answer: SessionAnswer, accessToken: string): HeldSession {
  const { iat = 0, exp = 0 } = claimsOf(accessToken);
  const life = (exp - iat) * 1000 || UNKNOWN_LIFE;
  // A token that came with its user was made just now: its life is counted from here, so that a clock that is wrong
  // does no harm.
  const deadAt = answer.user ? Date.now() + life : exp * 1000;
  const { refreshToken, csrfToken } = answer;
  return {
    accessToken,
    user: answer.user ?? null,
    ...(refreshToken && { refreshToken }),
    ...(csrfToken && { csrfToken }),
    expiresAt: exp * 1000,
    staleAt: deadAt - Math.min(MARGIN, life / 10),
    deadAt,
  };
}
