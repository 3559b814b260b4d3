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
    this.tabs = openTabs(isWebPage ? settings.scope : null, ({ event, session }) => this.change(event, session));
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
  open(event: AuthEvent, answer: SessionAnswer): HeldSession | null {
    if (!answer.accessToken) return null;
    const held = hold(answer, answer.accessToken);
    if (held.csrfToken) this.storage.set(this.csrfKey, held.csrfToken);
    this.tell(event, held);
    return held;
  }

  /** Begins with tokens in hand, of which at least one is there. */
  seed(accessToken: string | undefined, refreshToken: string | undefined): void {
    this.held = hold({ ...(refreshToken && { refreshToken }) }, accessToken ?? "");
  }

  /** The session is over, for this client and the other tabs. */
  end(): void {
    const wasThere = this.held !== null || this.csrfToken !== null;
    this.storage.remove(this.csrfKey);
    if (wasThere) this.tell("SIGNED_OUT", null);
  }

  /** The user of the session as the service last told it. */
  updateUser(user: User): void {
    if (!this.held || JSON.stringify(this.held.user) === JSON.stringify(user)) return;
    this.tell("USER_UPDATED", { ...this.held, user });
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
      if (this.held?.user?.id !== session?.user?.id || !this.held) return;
      session = { ...this.held, user: session?.user ?? null };
    } else {
      this.version += 1;
    }
    this.held = session;
    for (const listener of [...this.listeners]) {
      try {
        listener(event, session);
      } catch (error) {
        // A mistake of the app's is the app's to see, and no reason to fail the call that brought the news.
        setTimeout(() => {
          throw error;
        });
      }
    }
  }
}

/** A life for a token that cannot be read, so that it is refreshed neither at once nor never. */
const UNKNOWN_LIFE = 300_000;

/** Reads an answer. */
function hold(answer: SessionAnswer, accessToken: string): HeldSession {
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
