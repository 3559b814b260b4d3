// Mutual exclusion across the tabs of a site: Web Locks, or a lease in localStorage if there are none (they need a secure
// context). A tab that gets no lock in time continues without one: the service tolerates two refreshes.
import type { Storage } from "./storage.js";

/** Milliseconds that a tab waits for the lock: a hanging request in one tab blocks the others no longer. */
const LOCK_TIMEOUT = 1_800;

/** Work under the lock; `waited` is true if another tab held it before. */
export type Work<T> = (waited: boolean) => Promise<T>;

/** Runs the work under the lock of this name. */
export async function exclusively<T>(name: string, storage: Storage, work: Work<T>): Promise<T> {
  let running: Promise<T> | undefined;
  const start = (waited: boolean): Promise<T> => (running = work(waited));
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(), LOCK_TIMEOUT);
  try {
    const locks = globalThis.navigator?.locks as LockManager | undefined;
    if (locks) {
      await locks.request(name, { ifAvailable: true }, (lock) => lock && start(false));
      if (!running) await locks.request(name, { signal: waiting.signal }, () => start(true));
    } else if (storage.isDurable) {
      const { leased } = await import("./lease.js");
      await leased(name, storage, start, LOCK_TIMEOUT);
    }
  } catch {
    // Refused by the browser, or timed out. If the work itself failed, its promise is rejected.
  }
  clearTimeout(timer);
  return running ?? work(false);
}
