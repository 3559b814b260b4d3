// In-memory session of this client, with change events here and in other tabs. Only the CSRF token is persisted, so that a
// reload can use the cookie: it is useless without the cookie, which no script can read.
import type { LatchkeyError } from "./errors.js";
import { type Settings, isPage } from "./options.js";
import { memoryStorage, siteStorage, type Storage } from "./storage.js";
import { type TabMessage, openTabs } from "./tabs.js";
import { claimsOf } from "./claims.js";
import type { Challenge, User } from "./types.js";
import type { SessionAnswer } from "./wire.js";

/** Session in memory; times are milliseconds by the local clock, unless noted. */
export interface HeldSession {
  accessToken: string;
  user: User | null;
  refreshToken?: string;
  csrfToken?: string;
  /** Expiry of the access token, by the clock of the service. */
  expiresAt: number;
  /** Time of the next refresh. */
  staleAt: number;
  /** Expiry of the access token. */
  deadAt: number;
}

/**
 * Session event. `INITIAL_SESSION` is every listener's first event and comes once. If another user turns out to be signed
 * in, `SIGNED_OUT` comes before `SIGNED_IN`. `CHALLENGED`: a sign-in or `reauthenticate` needs the answer to a challenge;
 * the session is the one before. `REAUTHENTICATED`: the same session with a fresh access token.
 */
export type AuthEvent =
  | "INITIAL_SESSION"
  | "SIGNED_IN"
  | "SIGNED_OUT"
  | "TOKEN_REFRESHED"
  | "USER_UPDATED"
  | "CHALLENGED"
  | "REAUTHENTICATED";

/** Listener of session changes, and of the challenge of a `CHALLENGED`. */
export type Listener = (
  event: AuthEvent,
  session: HeldSession | null,
  error?: LatchkeyError | null,
  challenge?: Challenge,
) => void;

/** Milliseconds for which a page reached from within the site assumes no session after the service reported none. */
const NO_SESSION_TIME = 300_000;
/** Milliseconds between refresh and expiry; a tenth of the life for tokens shorter than ten minutes. */
const MARGIN = 60_000;

/** Session state of one client. */
export class SessionStore {
  /**
   * Change counter, to detect late responses. 0: it is unknown whether there is a session; without a CSRF token the service
   * is asked once.
   */
  version = 0;
  /** Challenge to answer; in memory only. */
  challenge: Challenge | undefined;
  /** Whether the service recently reported no session. */
  readonly hasNoSession: boolean;
  /** Whether the client lives as long as a page or an app, not for one request. */
  readonly isLive: boolean;
  /** Storage shared by tabs; memory if there is none. */
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
    if (isWebPage) this.#tabs = openTabs(scope, (message) => this.#hear(message));
    // Navigation within the site. A visitor from elsewhere may have a session of another app of the site.
    const isWalking = isWebPage && document.referrer.startsWith(`${location.origin}/`);
    const none = Number(this.storage.get(this.#noneKey));
    this.hasNoSession = isWalking && Date.now() < none + NO_SESSION_TIME;
  }

  /** Current session, valid or expired. */
  get current(): HeldSession | null {
    return this.#held;
  }

  /** CSRF token; storage, which a sign-in in another tab updates, takes precedence. */
  get csrfToken(): string | null {
    return this.storage.get(this.#csrfKey) ?? this.#held?.csrfToken ?? null;
  }

  /** Sets the session. */
  take(event: AuthEvent, held: HeldSession): void {
    if (held.csrfToken) this.storage.set(this.#csrfKey, held.csrfToken);
    this.#tell(event, held);
  }

  /** Keeps the challenge of a response, if it has one, and notifies the listeners of this client alone. */
  face(challenge: Challenge | undefined): void {
    this.challenge = challenge;
    if (challenge) this.#emit("CHALLENGED", challenge);
  }

  /** Starts with given tokens, at least one. */
  seed(accessToken: string | undefined, refreshToken?: string, user: User | null = null): void {
    this.#held = { ...hold({ accessToken, refreshToken }), user };
  }

  /** Asks the other tabs for a valid token; false if none can respond. */
  ask(): boolean {
    if (this.csrfToken === null || !this.#tabs) return false;
    this.#say({});
    return true;
  }

  /** Signs out this client and the other tabs. */
  end(): void {
    const wasThere = this.#held !== null || this.csrfToken !== null;
    this.storage.remove(this.#csrfKey);
    this.version += 1;
    if (wasThere) this.#tell("SIGNED_OUT", null);
  }

  /**
   * Ends the session for this client, after the service refused its refresh or reported none. Other tabs may hold a valid
   * token: with blocked cookies every refresh is refused although the session is valid. Only a client that had a session
   * notifies them.
   */
  lose(csrfToken: string | null | undefined): void {
    // A token written since then belongs to a newer session.
    if (this.storage.get(this.#csrfKey) === csrfToken) this.storage.remove(this.#csrfKey);
    if (csrfToken === null) this.storage.set(this.#noneKey, `${Date.now()}`);
    if (this.#held) this.#say({ event: "SIGNED_OUT", session: null, isRefusal: true });
    this.#change("SIGNED_OUT", null);
  }

  /**
   * Updates the user of the session; another user is ignored. Returns the existing object if nothing changed.
   */
  updateUser(user: User): User {
    const held = this.#held;
    if (!held || !isOf(held, user.id)) return user;
    const kept = sameUser(held.user, user);
    if (kept !== held.user) this.#tell("USER_UPDATED", { ...held, user });
    return kept;
  }

  /** Updates the profile of a user, if it is still the user of the session. */
  updateProfile(id: unknown, { name, avatar_url }: User["profile"]): void {
    const user = this.#held?.user;
    if (user && user.id === id) this.updateUser({ ...user, profile: { name, avatar_url } });
  }

  /** Adds a listener; the returned function removes it. */
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

  /** Sends a message to the other tabs. */
  #say(message: TabMessage): void {
    this.#tabs?.postMessage(message);
  }

  #tell(event: AuthEvent, session: HeldSession | null): void {
    this.#say({ event, session });
    this.#change(event, session);
  }

  /** Handles a message of another tab: a change, or a request for a valid token. */
  #hear({ event, session = null, isRefusal }: TabMessage): void {
    const held = this.#held;
    if (!event) {
      if (held && Date.now() < held.staleAt) this.#say({ event: "TOKEN_REFRESHED", session: held });
    } else if (event === "TOKEN_REFRESHED") {
      // A response to any tab; after a sign-out also the result of a concurrent refresh.
      if (session && (held ? held.deadAt < session.deadAt && !isYoung(held, session) : !this.version)) this.#change(event, session);
    } else if (!isRefusal || !isAlive(held)) {
      this.#change(event, session);
    }
  }

  #change(event: AuthEvent, session: HeldSession | null): void {
    const held = this.#held;
    const user = session?.user && sameUser(held?.user, session.user);
    if (event === "USER_UPDATED") {
      // The message of another tab may have older tokens than this one.
      if (!held || !user || user === held.user || !isOf(held, user.id)) return;
      session = { ...held, user };
    } else {
      if (session && user) session.user = user;
      if (held && session && !isOf(held, ownerOf(session))) {
        // An app never sees two users in one session.
        this.#change("SIGNED_OUT", null);
        event = "SIGNED_IN";
      }
      this.version += 1;
    }
    this.#held = session;
    this.#emit(event);
  }

  #emit(event: AuthEvent, challenge?: Challenge): void {
    for (const listener of [...this.#listeners]) safely(() => listener(event, this.#held, null, challenge));
  }
}

/** Existing user if equal, so that apps can compare objects with `===`. */
const sameUser = (held: User | null | undefined, user: User): User =>
  held && JSON.stringify(held) === JSON.stringify(user) ? held : user;

/** Calls an app callback. Its exception is rethrown asynchronously and does not fail the operation. */
export function safely(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    setTimeout(() => {
      throw error;
    });
  }
}

/** User id of a session; undefined if neither token nor user has it. */
export const ownerOf = ({ accessToken, user }: HeldSession): string | undefined => claimsOf(accessToken).sub ?? user?.id;

/** Whether a session belongs to a user; true if either is unknown. */
const isOf = (held: HeldSession, id: string | undefined): boolean => (ownerOf(held) ?? id) === (id ?? ownerOf(held));

/** Whether the access token has not expired. */
export const isAlive = (held: HeldSession | null): held is HeldSession => held !== null && Date.now() < held.deadAt;

/** Whether the first token is fresher by a later authentication than the second, and not due for refresh. */
const isYoung = (held: HeldSession, other: HeldSession): boolean =>
  Date.now() < held.staleAt && (claimsOf(held.accessToken).auth_time ?? 0) > (claimsOf(other.accessToken).auth_time ?? 0);

/** Assumed life of a token that cannot be decoded. */
const UNKNOWN_LIFE = 300_000;

type Tokens = { [Name in keyof SessionAnswer]?: SessionAnswer[Name] | undefined };

/** Session from a response, or from given tokens. */
export function hold({ accessToken, user, refreshToken, csrfToken }: Tokens): HeldSession {
  const { iat = 0, exp = 0 } = claimsOf(accessToken ?? "");
  const life = (exp - iat) * 1000 || UNKNOWN_LIFE;
  // A token that came with its user is fresh: its life is counted from now, so that a wrong clock does no harm.
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
