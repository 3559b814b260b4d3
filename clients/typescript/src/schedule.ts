// When a session is refreshed by itself: shortly before its token ends, as soon as the network or the eyes are back,
// and after a failure again and again, with growing pauses.
import type { LatchkeyError } from "./errors.js";
import type { HeldSession } from "./session-store.js";

const FIRST_PAUSE = 5_000;
const LONGEST_PAUSE = 60_000;
/** The longest time that a timer of JavaScript can hold. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** A timer around a refresh. */
export class Schedule {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private due = Number.POSITIVE_INFINITY;
  private pause = FIRST_PAUSE;
  private readonly wake = (): void => {
    if (Date.now() >= this.due) void this.run();
    else this.at(this.due);
  };

  /** `refresh` returns the error that it met, or null. */
  constructor(private readonly refresh: () => Promise<LatchkeyError | null>) {
    globalThis.addEventListener?.("online", this.hurry);
    globalThis.document?.addEventListener("visibilitychange", this.wake);
  }

  /** Follows a session; null stops. */
  follow(session: HeldSession | null): void {
    this.pause = FIRST_PAUSE;
    this.at(session ? session.staleAt : Number.POSITIVE_INFINITY);
  }

  /** Stops for good. */
  close(): void {
    this.at(Number.POSITIVE_INFINITY);
    globalThis.removeEventListener?.("online", this.hurry);
    globalThis.document?.removeEventListener("visibilitychange", this.wake);
  }

  /** The network is back: a retry that waits need not wait. */
  private readonly hurry = (): void => {
    if (this.pause > FIRST_PAUSE) this.due = 0;
    this.wake();
  };

  private at(due: number): void {
    clearTimeout(this.timer);
    this.due = due;
    if (due === Number.POSITIVE_INFINITY) return;
    this.timer = setTimeout(this.wake, Math.min(Math.max(due - Date.now(), 0), LONGEST_TIMER));
    // In Node.js a timer alone must not keep a program alive.
    (this.timer as { unref?: () => void }).unref?.();
  }

  private async run(): Promise<void> {
    const pause = this.pause;
    this.at(Number.POSITIVE_INFINITY);
    const error = await this.refresh();
    // A success, or the end of the session, has called `follow`.
    if (!error || this.due !== Number.POSITIVE_INFINITY) return;
    this.pause = Math.min(pause * 2, LONGEST_PAUSE);
    this.at(Date.now() + Math.max(pause, (error.retryAfter ?? 0) * 1000));
  }
}
