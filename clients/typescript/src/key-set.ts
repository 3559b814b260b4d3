// The keys of a service, kept for all verifications of this process. A key that is not known yet, after a rotation,
// is asked for at once, but not more often than once in a while, so that invented key ids cause little traffic.
import type { JwkSet } from "./types.js";

/** A key, and what WebCrypto made of it. */
export interface Key {
  jwk: JsonWebKey & { kid?: string };
  imported?: Promise<CryptoKey>;
}

interface KeySet {
  keys: Map<string, Key>;
  /** When they were fetched. */
  fetchedAt: number;
  /** When the last fetch ended, and whether it went well. */
  triedAt: number;
  isReached: boolean;
  running?: Promise<void> | undefined;
}

/** Milliseconds for which a set is used without a look at the service. */
const FRESH = 600_000;
/** Milliseconds after which nobody is let through on a key before there was such a look, as long as the service answers. */
const STALE = 2 * FRESH;
/** Milliseconds between two fetches for the sake of unknown keys. */
const PAUSE = 1_000;
/** Milliseconds between two fetches of a service that does not answer. */
const OUTAGE_PAUSE = 10_000;
/** Milliseconds for a fetch. */
const TIMEOUT = 10_000;

const sets = new Map<string, KeySet>();

/** The key with this id; undefined where the service has none, null where it cannot be asked. */
export async function keyOf(url: string, kid: string, fetcher: typeof fetch): Promise<Key | undefined | null> {
  const set: KeySet = sets.get(url) ?? { keys: new Map(), fetchedAt: 0, triedAt: 0, isReached: true };
  sets.set(url, set);
  const age = since(set.fetchedAt);
  const known = set.keys.get(kid);
  if (known) {
    // A known key need not wait for a look, unless the last one was long ago.
    const look = age > FRESH ? fetched(set, url, fetcher) : undefined;
    if (age > STALE && set.isReached) await look;
    return set.keys.get(kid) ?? (set.isReached ? undefined : known);
  }
  // The set may be a moment older than the key: then the next look, which all wait for together.
  await fetched(set, url, fetcher, set.isReached ? PAUSE - since(set.triedAt) : 0);
  return set.keys.get(kid) ?? (set.isReached ? undefined : null);
}

/** Milliseconds since then; very many where the clock was set back. */
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

/** What keeps caches out, for which new keys are not there yet; some workers refuse the word. */
function uncached(): RequestInit {
  try {
    return new Request("https://latchkey.invalid", { cache: "no-store" }) && { cache: "no-store" };
  } catch {
    return {};
  }
}
