// Mutual exclusion by Web Locks, and by the lease that replaces them.
import { afterEach, describe, expect, test, vi } from "vitest";
import { exclusively } from "../src/locks.js";
import { memoryStorage, type Storage } from "../src/storage.js";
import { fakeLocks } from "./support/locks.js";

const durable = (): Storage => ({ ...memoryStorage(), isDurable: true });

/** Starts three works at once; returns the maximum concurrency, and which ones waited. */
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

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

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

  test.each(["Web Locks", "a lease"])("continues without the lock after two seconds: %s", async (kind) => {
    vi.useFakeTimers();
    vi.stubGlobal("navigator", kind === "a lease" ? {} : { locks: fakeLocks() });
    const storage = durable();
    void exclusively("name", storage, () => new Promise(() => undefined));
    await vi.advanceTimersByTimeAsync(100);

    let waited: boolean | undefined;
    void exclusively("name", storage, async (hasWaited) => void (waited = hasWaited));
    await vi.advanceTimersByTimeAsync(1_500);
    expect(waited).toBeUndefined();
    await vi.advanceTimersByTimeAsync(500);

    expect(waited).toBe(false);
  });

  test("continues if the browser refuses locks, and runs the work once", async () => {
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
