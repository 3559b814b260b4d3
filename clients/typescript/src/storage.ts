// Web storage with a fallback to memory, because browsers may block it. Data in memory lives as long as the page.

/** Key-value storage of short texts. */
export interface Storage {
  get(key: string): string | null;
  set(key: string, value: string): void;
  remove(key: string): void;
  /** Whether the data outlives the page. */
  readonly isDurable: boolean;
}

/** `localStorage` or `sessionStorage` if usable, else memory. */
export function siteStorage(kind: "localStorage" | "sessionStorage"): Storage {
  try {
    // Access throws if the browser blocks site data; writing throws if storage is full.
    const real = globalThis[kind];
    const probe = "latchkey:probe";
    real.setItem(probe, probe);
    real.removeItem(probe);
    return {
      get: (key) => real.getItem(key),
      set: (key, value) => {
        try {
          real.setItem(key, value);
        } catch {
          // Storage is full: the session stays in this page.
        }
      },
      remove: (key) => real.removeItem(key),
      isDurable: true,
    };
  } catch {
    return memoryStorage();
  }
}

/** Storage in memory. */
export function memoryStorage(): Storage {
  const texts = new Map<string, string>();
  return {
    get: (key) => texts.get(key) ?? null,
    set: (key, value) => void texts.set(key, value),
    remove: (key) => void texts.delete(key),
    isDurable: false,
  };
}
