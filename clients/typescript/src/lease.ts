// A lease in localStorage, for browsers without Web Locks. Loaded on demand.
import type { Work } from "./locks.js";
import type { Storage } from "./storage.js";

/** Milliseconds after which the lease of a dead tab expires. */
const LEASE = 10_000;
/** Milliseconds between two checks of a lease. */
const STEP = 100;

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Runs the work under a lease of this name, or without one after `timeout` milliseconds. */
export async function leased<T>(name: string, storage: Storage, work: Work<T>, timeout: number): Promise<T> {
  const key = `${name}:lease`;
  const mine = `${Math.random()}`;
  const deadline = Date.now() + timeout;
  let waited = false;
  while (Date.now() < deadline) {
    const [holder, until] = (storage.get(key) ?? "").split("@");
    if (!holder || Number(until) < Date.now()) {
      storage.set(key, `${mine}@${Date.now() + LEASE}`);
      // Two tabs may have written; after a moment both read the same winner.
      await pause(STEP / 2);
      const winner = storage.get(key);
      // No winner: storage is full, and waiting is pointless.
      if (!winner || winner.startsWith(`${mine}@`)) break;
    }
    waited = true;
    await pause(STEP);
  }
  try {
    return await work(waited && Date.now() < deadline);
  } finally {
    if (storage.get(key)?.startsWith(`${mine}@`)) storage.remove(key);
  }
}
