// Automatic refreshes: shortly before the token expires, when the network or the visible tab is back, and after a failure
// with exponential backoff. `Retry-After` is its lower bound.
import type { LatchkeyError } from "./errors.js";
import type { HeldSession } from "./session-store.js";

const FIRST_PAUSE = 5_000;
const MAX_PAUSE = 60_000;
/** Longest delay of a JavaScript timer. */
const MAX_TIMER = 2 ** 31 - 1;
const NEVER = Number.POSITIVE_INFINITY;

/** Timer of automatic refreshes. */
export class Schedule {
  /** Earliest time of a refresh, by the last `Retry-After` with jitter. */
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

  /** Schedules the refresh of a session; null stops. */
  follow(session: HeldSession | null): void {
    this.#pause = FIRST_PAUSE;
    this.#at(session ? session.staleAt : NEVER);
  }

  /** Whether a retry is scheduled. */
  get isWaiting(): boolean {
    return this.#isRetry && Date.now() < this.#due;
  }

  /** Schedules a retry after a transient failure. */
  retry({ retryAfter = 0 }: LatchkeyError): void {
    // Many clients get the same `Retry-After`; jitter spreads them.
    this.earliest = Date.now() + retryAfter * (1 + Math.random() / 4) * 1000;
    this.#at(Math.max(Date.now() + this.#pause, this.earliest), true);
    this.#pause = Math.min(this.#pause * 2, MAX_PAUSE);
  }

  /** Schedules the next refresh at expiry, after a refused early one. */
  wait(session: HeldSession): void {
    this.#at(session.deadAt, true);
  }

  /** Retries as early as the service allows, when the network is back. */
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
    this.#timer = setTimeout(this.#look, Math.min(Math.max(due - Date.now(), 0), MAX_TIMER));
    // In Node.js a timer alone must not keep a program alive.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  /** Checks the due time: timers fire early, late (a suspended laptop) or not at all (a hidden tab). */
  readonly #look = (): void => {
    if (Date.now() < this.#due) return this.#at(this.#due, this.#isRetry);
    this.#at(NEVER);
    this.#refresh();
  };
}
