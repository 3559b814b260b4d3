// One at a time across the tabs of a site: Web Locks, or a lease in localStorage where the browser has none (they
// need a secure context). Whoever does not get a turn in time goes on without: the service bears two refreshes.
import type { Storage } from "./storage.js";

/** Milliseconds that somebody waits for a turn; longer than a request may take is of no use. */
const PATIENCE = 10_000;
/** Milliseconds between two looks at a lease. */
const STEP = 100;

/** The work, told whether it had to wait for somebody else. */
type Work<T> = (waited: boolean) => Promise<T>;

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Does the work while nobody else does theirs under this name. */
export async function exclusively<T>(name: string, storage: Storage, work: Work<T>, patience = PATIENCE): Promise<T> {
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  if (!locks) return leased(name, storage, work, patience);
  let running: Promise<T> | undefined;
  const start = (waited: boolean): Promise<T> => (running = work(waited));
  try {
    await locks.request(name, { ifAvailable: true }, (lock) => lock && start(false));
    if (!running) await locks.request(name, { signal: AbortSignal.timeout(patience) }, () => start(true));
  } catch {
    // Refused by the browser, or out of patience. If the work itself failed, its promise says so.
  }
  return running ?? work(true);
}

async function leased<T>(name: string, storage: Storage, work: Work<T>, patience: number): Promise<T> {
  if (!storage.isDurable) return work(false);
  const key = `${name}:lease`;
  const mine = `${Math.random()}`;
  const deadline = Date.now() + patience;
  let waited = false;
  while (Date.now() < deadline) {
    const [holder, until] = (storage.get(key) ?? "").split("@");
    if (!holder || Number(until) < Date.now()) {
      storage.set(key, `${mine}@${Date.now() + PATIENCE}`);
      // Two may have written; after a moment both read the same winner.
      await pause(STEP / 2);
      const winner = storage.get(key);
      // No winner at all: there is no room to write, and nothing to wait for.
      if (!winner || winner.startsWith(`${mine}@`)) break;
    }
    waited = true;
    await pause(STEP);
  }
  try {
    return await work(waited);
  } finally {
    if (storage.get(key)?.startsWith(`${mine}@`)) storage.remove(key);
  }
}
