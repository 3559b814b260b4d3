// One at a time, by Web Locks and by the lease that takes their place.
import { afterEach, describe, expect, test, vi } from "vitest";
import { exclusively } from "../src/locks.js";
import { memoryStorage, type Storage } from "../src/storage.js";

const durable = (): Storage => ({ ...memoryStorage(), isDurable: true });

/** Web Locks as far as they are used here. */
function fakeLocks() {
  let held = false;
  const waiting: (() => void)[] = [];
  return {
    request: async (_: string, options: LockOptions, work: (lock: object | null) => unknown) => {
      if (held && options.ifAvailable) return work(null);
      while (held) await new Promise<void>((resolve) => waiting.push(resolve));
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

/** Begins three works at once and says how many ran at the same time, and who waited. */
async function threeAtOnce(storage: Storage): Promise<{ most: number; waited: boolean[] }> {
  let running = 0;
  let most = 0;
  const work = async (waited: boolean): Promise<boolean> => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 30));
    running -= 1;
    return waited;
  };
  const waited = await Promise.all([1, 2, 3].map(() => exclusively("name", storage, work)));
  return { most, waited };
}

afterEach(() => vi.unstubAllGlobals());

describe("exclusively", () => {
  test("is one at a time by Web Locks", async () => {
    vi.stubGlobal("navigator", { locks: fakeLocks() });

    expect(await threeAtOnce(memoryStorage())).toEqual({ most: 1, waited: [false, true, true] });
  });

  test("is one at a time by a lease in the storage of the site", async () => {
    vi.stubGlobal("navigator", {});
    const storage = durable();

    const { most, waited } = await threeAtOnce(storage);

    expect(most).toBe(1);
    expect(waited.filter((one) => one)).toHaveLength(2);
    expect(storage.get("name:lease")).toBeNull();
  });

  test("takes over the lease of a tab that died", async () => {
    vi.stubGlobal("navigator", {});
    const storage = durable();
    storage.set("name:lease", `gone@${Date.now() - 1}`);

    expect(await exclusively("name", storage, async () => "done")).toBe("done");
  });

  test("goes on where the browser refuses locks, and works once", async () => {
    const request = () => Promise.reject(new DOMException("no", "SecurityError"));
    vi.stubGlobal("navigator", { locks: { request } });
    let times = 0;

    await exclusively("name", memoryStorage(), async () => void (times += 1));

    expect(times).toBe(1);
  });

  test("hands on what the work throws", async () => {
    vi.stubGlobal("navigator", { locks: fakeLocks() });

    await expect(exclusively("name", memoryStorage(), () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  });
});
