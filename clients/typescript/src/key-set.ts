// Cache of a service's signing keys, shared by all verifications of this process. An unknown key, after a rotation, is
// fetched at once, but rate-limited, so that invented key ids cause little traffic.
import type { JwkSet } from "./types.js";

/** A key and its WebCrypto import. */
export interface Key {
  jwk: JsonWebKey & { kid?: string };
  imported?: Promise<CryptoKey>;
}

interface KeySet {
  keys: Map<string, Key>;
  /** Time of the last successful fetch. */
  fetchedAt: number;
  /** Time of the last fetch, and whether it succeeded. */
  triedAt: number;
  isReached: boolean;
  running?: Promise<void> | undefined;
}

/** Milliseconds for which a key set is used without revalidation. */
const FRESH = 600_000;
/** Milliseconds after which a key requires revalidation first, as long as the service is reachable. */
const STALE = 2 * FRESH;
/** Minimum milliseconds between two fetches for unknown keys. */
const PAUSE = 1_000;
/** Minimum milliseconds between two fetches while the service is unreachable. */
const OUTAGE_PAUSE = 10_000;
/** Timeout of a fetch in milliseconds. */
const TIMEOUT = 10_000;

const sets = new Map<string, KeySet>();

/** Key with this id; undefined if the service has none, null if the service is unreachable. */
export async function keyOf(url: string, kid: string, fetcher: typeof fetch): Promise<Key | undefined | null> {
  const set: KeySet = sets.get(url) ?? { keys: new Map(), fetchedAt: 0, triedAt: 0, isReached: true };
  sets.set(url, set);
  const age = since(set.fetchedAt);
  const known = set.keys.get(kid);
  if (known) {
    // A known key does not wait for revalidation, unless the last one was long ago (stale-while-revalidate).
    const look = age > FRESH ? fetched(set, url, fetcher) : undefined;
    if (age > STALE && set.isReached) await look;
    return set.keys.get(kid) ?? (set.isReached ? undefined : known);
  }
  // The set may be slightly older than the key: all callers wait for one fetch.
  await fetched(set, url, fetcher, set.isReached ? PAUSE - since(set.triedAt) : 0);
  return set.keys.get(kid) ?? (set.isReached ? undefined : null);
}

/** Milliseconds since then; infinite if the clock was set back. */
const since = (then: number): number => (then > Date.now() ? Number.POSITIVE_INFINITY : Date.now() - then);

async function fetched(set: KeySet, url: string, fetcher: typeof fetch, pause = 0): Promise<void> {
  if (!set.isReached && since(set.triedAt) < OUTAGE_PAUSE) return;
  set.running ??= ask(set, url, fetcher, pause).finally(() => {
    set.triedAt = Date.now();
    set.running = undefined;
  });
  return set.running;
}

async function ask(set: KeySet, url: string, fetcher: typeof fetch, pause: number): Promise<void> {
  if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
  try {
    const response = await fetcher(url, { signal: AbortSignal.timeout(TIMEOUT), ...uncached() });
    if (!response.ok) throw new TypeError(`status ${response.status}`);
    const { keys } = (await response.json()) as JwkSet;
    const entries = (keys as Key["jwk"][]).filter((jwk) => jwk.kid).map((jwk) => [jwk.kid as string, { jwk }] as const);
    set.keys = new Map<string, Key>(entries);
    set.fetchedAt = Date.now();
    set.isReached = true;
  } catch {
    set.isReached = false;
  }
}

/** Cache bypass, because a cache may lack new keys; some workers refuse the option. */
function uncached(): RequestInit {
  try {
    return new Request("https://latchkey.invalid", { cache: "no-store" }) && { cache: "no-store" };
  } catch {
    return {};
  }
}
