// The session of this client, in memory: who is told when it changes, here and in other tabs. Only the CSRF token is
// written down, so that a reload can use the cookie: it is worth nothing without the cookie, which no script reads.
import { type Settings, isPage } from "./options.js";
import { memoryStorage, siteStorage, type Storage } from "./storage.js";
import { type News, openTabs } from "./tabs.js";
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

/**
 * An event of the session. `INITIAL_SESSION` comes once to every listener, before all others. Where another person turns
 * out to be signed in, `SIGNED_OUT` comes before `SIGNED_IN`.
 */
export type AuthEvent = "INITIAL_SESSION" | "SIGNED_IN" | "SIGNED_OUT" | "TOKEN_REFRESHED" | "USER_UPDATED";

/** Is told of every change. */
export type Listener = (event: AuthEvent, session: HeldSession | null) => void;

/** Milliseconds for which a page that is reached from within the site asks for no session after there was none. */
const QUIET_TIME = 300_000;
/** Refreshed so many milliseconds before the end, or at nine tenths of a life shorter than ten minutes. */
const MARGIN = 60_000;

/** Holds the session. */
export class SessionStore {
  /**
   * Counts the sessions, so that a late answer is known to be late. With 0 it is not known whether there is one: without
   * a CSRF token the service is asked, once.
   */
  version = 0;
  /** Whether the service said a moment ago that there is none. */
  readonly isQuiet: boolean;
  /** Whether the client lives as long as a page or an app, and not for one request. */
  readonly isLive: boolean;
  /** The storage that tabs share; memory where there is none. */
  readonly storage: Storage;
  #held: HeldSession | null = null;
  readonly #listeners = new Set<Listener>();
  #tabs: BroadcastChannel | undefined;
  readonly #csrfKey: string;
  readonly #noneKey: string;

  constructor({ clientType, scope }: Settings) {
    const isWeb = clientType === "web";
    const isWebPage = isWeb && isPage();
    this.isLive = isWeb ? isWebPage : clientType !== "server";
    this.storage = this.isLive ? siteStorage("localStorage") : memoryStorage();
    this.#csrfKey = `${scope}:csrf`;
    this.#noneKey = `${scope}:none`;
    if (isWebPage) this.#tabs = openTabs(scope, (news) => this.#hear(news));
    // A visitor who walks from page to page. From elsewhere people come with a session of another app of the site.
    const isWalking = isWebPage && document.referrer.startsWith(`${location.origin}/`);
    const none = Number(this.storage.get(this.#noneKey));
    this.isQuiet = isWalking && Date.now() < none + QUIET_TIME;
  }

  /** The session, good or expired. */
  get current(): HeldSession | null {
    return this.#held;
  }

  /** The CSRF token: of storage, which a sign-in in another tab renews, before that of this page. */
  get csrfToken(): string | null {
    return this.storage.get(this.#csrfKey) ?? this.#held?.csrfToken ?? null;
  }

  /** Takes over a session. */
  take(event: AuthEvent, held: HeldSession): void {
    if (held.csrfToken) this.storage.set(this.#csrfKey, held.csrfToken);
    this.#tell(event, held);
  }

  /** Begins with tokens in hand, of which at least one is there. */
  seed(accessToken: string | undefined, refreshToken?: string, user: User | null = null): void {
    this.#held = { ...hold({ accessToken, refreshToken }), user };
  }

  /** Asks the other tabs for a live token; false where no answer can come. */
  ask(): boolean {
    if (this.csrfToken === null || !this.#tabs) return false;
    this.#say({});
    return true;
  }

  /** Ends the session for this client and the other tabs: a sign-out. */
  end(): void {
    const wasThere = this.#held !== null || this.csrfToken !== null;
    this.storage.remove(this.#csrfKey);
    this.version += 1;
    if (wasThere) this.#tell("SIGNED_OUT", null);
  }

  /** The session with this id was ended at the service: the own one is over here too. */
  endIfOwn(id: string): void {
    if (this.#held && claimsOf(this.#held.accessToken).sid === id.toLowerCase()) this.end();
  }

  /**
   * Ends the session for this client: the service refused its refresh, or knows of none. Other tabs may hold a token that
   * is good: a browser that blocks cookies refuses every refresh, and no session. They hear of it only from one that had
   * a session too.
   */
  lose(csrfToken: string | null | undefined): void {
    // One that was written since belongs to a newer session.
    if (this.storage.get(this.#csrfKey) === csrfToken) this.storage.remove(this.#csrfKey);
    if (csrfToken === null) this.storage.set(this.#noneKey, `${Date.now()}`);
    if (this.#held) this.#say({ event: "SIGNED_OUT", session: null, isRefusal: true });
    this.#change("SIGNED_OUT", null);
  }

  /**
   * The user of the session as the service last told it; of another user nothing is taken over. Returns the object that
   * is held where nothing changed.
   */
  updateUser(user: User): User {
    const held = this.#held;
    if (!held || !isOf(held, user.id)) return user;
    const kept = keptOf(held.user, user);
    if (kept !== held.user) this.#tell("USER_UPDATED", { ...held, user });
    return kept;
  }

  /** The profile of a user, who may not be the one of the session any more. */
  updateProfile(id: unknown, { name, avatar_url }: User["profile"]): void {
    const user = this.#held?.user;
    if (user && user.id === id) this.updateUser({ ...user, profile: { name, avatar_url } });
  }

  /** Listens until the returned function is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Stops listening to other tabs. */
  close(): void {
    this.#listeners.clear();
    this.#tabs?.close();
    this.#tabs = undefined;
  }

  /** To the other tabs. */
  #say(news: News): void {
    this.#tabs?.postMessage(news);
  }

  #tell(event: AuthEvent, session: HeldSession | null): void {
    this.#say({ event, session });
    this.#change(event, session);
  }

  /** Another tab says what happened there, or asks for a live token. */
  #hear({ event, session = null, isRefusal }: News): void {
    const held = this.#held;
    if (!event) {
      if (held && Date.now() < held.staleAt) this.#say({ event: "TOKEN_REFRESHED", session: held });
    } else if (event === "TOKEN_REFRESHED") {
      // An answer to any tab; and after a sign-out the last word of a refresh that ran meanwhile.
      if (session && (held ? held.deadAt < session.deadAt : !this.version)) this.#change(event, session);
    } else if (!isRefusal || !isAlive(held)) {
      this.#change(event, session);
    }
  }

  #change(event: AuthEvent, session: HeldSession | null): void {
    const held = this.#held;
    const user = session?.user && keptOf(held?.user, session.user);
    if (event === "USER_UPDATED") {
      // Another tab may say it with tokens that are older than those held here.
      if (!held || !user || user === held.user || !isOf(held, user.id)) return;
      session = { ...held, user };
    } else {
      if (session && user) session.user = user;
      if (held && session && !isOf(held, ownerOf(session))) {
        // An app never sees the data of two people as one session.
        this.#change("SIGNED_OUT", null);
        event = "SIGNED_IN";
      }
      this.version += 1;
    }
    this.#held = session;
    for (const listener of [...this.#listeners]) safely(() => listener(event, session));
  }
}

/** The user that is held where the other is alike, so that apps compare objects with `===`. */
const keptOf = (held: User | null | undefined, user: User): User =>
  held && JSON.stringify(held) === JSON.stringify(user) ? held : user;

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

/** Also where either is not known. */
const isOf = (held: HeldSession, id: string | undefined): boolean => (ownerOf(held) ?? id) === (id ?? ownerOf(held));

/** Whether there is a token that has not ended. */
export const isAlive = (held: HeldSession | null): held is HeldSession => held !== null && Date.now() < held.deadAt;

/** A life for a token that cannot be read, so that it is refreshed neither at once nor never. */
const UNKNOWN_LIFE = 300_000;

type Tokens = { [Name in keyof SessionAnswer]?: SessionAnswer[Name] | undefined };

/** Reads an answer, or tokens in hand. */
export function hold({ accessToken, user, refreshToken, csrfToken }: Tokens): HeldSession {
  const { iat = 0, exp = 0 } = claimsOf(accessToken ?? "");
  const life = (exp - iat) * 1000 || UNKNOWN_LIFE;
  // A token that came with its user was made just now: its life is counted from here, so that a clock that is wrong
  // does no harm.
  const deadAt = user ? Date.now() + life : exp * 1000;
  return {
    accessToken: accessToken ?? "",
    user: user ?? null,
    ...(refreshToken && { refreshToken }),
    ...(csrfToken && { csrfToken }),
    expiresAt: exp * 1000,
    staleAt: deadAt - Math.min(MARGIN, life / 10),
    deadAt,
  };
}
