// Automatic refreshes: shortly before the token ends, as soon as the network or the eyes are back, and after a failure
// again and again, with a growing backoff. `Retry-After` is a lower bound of it.
import type { LatchkeyError } from "./errors.js";
import type { HeldSession } from "./session-store.js";

const FIRST_PAUSE = 5_000;
const LONGEST_PAUSE = 60_000;
/** The longest time that a timer of JavaScript can hold. */
const LONGEST_TIMER = 2 ** 31 - 1;
const NEVER = Number.POSITIVE_INFINITY;

/** A timer around a refresh. */
export class Schedule {
  /** The earliest time of a refresh, by the last `Retry-After` with jitter. */
  earliest = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due = NEVER;
  #pause = FIRST_PAUSE;
  #isRetry = false;
  readonly #refresh: () => void;

  constructor(refresh: () => void) {
    this.#refresh = refresh;
    globalThis.document?.addEventListener("visibilitychange", this.#look);
  }

  /** Follows a session; null stops. */
  follow(session: HeldSession | null): void {
    this.#pause = FIRST_PAUSE;
    this.#at(session ? session.staleAt : NEVER);
  }

  /** A refresh failed, and the next is to come. */
  get isWaiting(): boolean {
    return this.#isRetry && Date.now() < this.#due;
  }

  /** A refresh failed for a reason that passes. */
  retry({ retryAfter = 0 }: LatchkeyError): void {
    // Many clients are told the same `Retry-After`; they come back one after the other.
    this.earliest = Date.now() + retryAfter * (1 + Math.random() / 4) * 1000;
    this.#at(Math.max(Date.now() + this.#pause, this.earliest), true);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
  }

  /** A refresh was refused, and the access token is good for a while: the next is when it ends. */
  wait(session: HeldSession): void {
    this.#at(session.deadAt, true);
  }

  /** The network is back: a retry comes as early as the service allows. */
  hurry(): void {
    if (this.#isRetry) this.#due = this.earliest;
    this.#look();
  }

  /** Stops for good. */
  close(): void {
    this.#at(NEVER);
    globalThis.document?.removeEventListener("visibilitychange", this.#look);
  }

  #at(due: number, isRetry = false): void {
    clearTimeout(this.#timer);
    this.#due = due;
    this.#isRetry = isRetry;
    if (due === NEVER) return;
    this.#timer = setTimeout(this.#look, Math.min(Math.max(due - Date.now(), 0), LONGEST_TIMER));
    // In Node.js a timer alone must not keep a program alive.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  /** Timers come early, late (a laptop slept) or not at all (a hidden tab). */
  readonly #look = (): void => {
    if (Date.now() < this.#due) return this.#at(this.#due, this.#isRetry);
    this.#at(NEVER);
    this.#refresh();
  };
}
