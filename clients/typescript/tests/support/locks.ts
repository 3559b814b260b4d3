// Fake of Web Locks for the client's use: one lock, FIFO waiters, and an abort signal.

/** New lock manager. */
export function fakeLocks() {
  let held = false;
  const waiting: (() => void)[] = [];
  const turn = (signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push(resolve);
      signal?.addEventListener("abort", () => {
        waiting.splice(waiting.indexOf(resolve), 1);
        reject(signal.reason as Error);
      });
    });
  return {
    request: async (_: string, options: LockOptions, work: (lock: object | null) => unknown) => {
      if (held && options.ifAvailable) return work(null);
      while (held) await turn(options.signal);
      held = true;
      try {
        return await work({});
      } finally {
        held = false;
        waiting.shift()?.();
      }
    },
  };
}
