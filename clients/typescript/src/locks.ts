// One at a time across the tabs of a site: Web Locks, or a lease in localStorage where the browser has none (they
// need a secure context). A tab that gets no turn in time goes on without one: the service bears two refreshes.
import type { Storage } from "./storage.js";

/** Milliseconds that a tab waits for its turn: a request that hangs in one tab stops no other for longer. */
const PATIENCE = 1_800;

/** The work; `waited` is true after another tab finished its own. */
export type Work<T> = (waited: boolean) => Promise<T>;

/** Runs the work while no other runs under this name. */
export async function exclusively<T>(name: string, storage: Storage, work: Work<T>): Promise<T> {
  let running: Promise<T> | undefined;
  const start = (waited: boolean): Promise<T> => (running = work(waited));
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(), PATIENCE);
  try {
    const locks = globalThis.navigator?.locks as LockManager | undefined;
    if (locks) {
      await locks.request(name, { ifAvailable: true }, (lock) => lock && start(false));
      if (!running) await locks.request(name, { signal: waiting.signal }, () => start(true));
    } else if (storage.isDurable) {
      const { leased } = await import("./lease.js");
      await leased(name, storage, start, PATIENCE);
    }
  } catch {
    // Refused by the browser, or out of patience. If the work itself failed, its promise says so.
  }
  clearTimeout(timer);
  return running ?? work(false);
}
