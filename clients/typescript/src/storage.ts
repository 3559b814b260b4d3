// The storage of a site, which a browser may refuse to give: then memory takes its place, and what is kept lives as
// long as the page.

/** A place for small texts. */
export interface Storage {
  get(key: string): string | null;
  set(key: string, value: string): void;
  remove(key: string): void;
  /** Whether what is written outlives the page. */
  readonly isDurable: boolean;
}

/** `localStorage` or `sessionStorage` where it can be used, else memory. */
export function siteStorage(kind: "localStorage" | "sessionStorage"): Storage {
  try {
    // Reading the property throws where the browser blocks the data of sites; writing where there is no room.
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
          // No room any more: the session lives on in this page.
        }
      },
      remove: (key) => real.removeItem(key),
      isDurable: true,
    };
  } catch {
    return memoryStorage();
  }
}

/** A storage that is gone with its owner. */
export function memoryStorage(): Storage {
  const texts = new Map<string, string>();
  return {
    get: (key) => texts.get(key) ?? null,
    set: (key, value) => void texts.set(key, value),
    remove: (key) => void texts.delete(key),
    isDurable: false,
  };
}
