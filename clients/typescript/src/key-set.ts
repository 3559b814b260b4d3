// The keys of a service, kept for all verifications of this process. A key that is not known yet, after a rotation,
// is asked for; but not more often than once in a while, so that invented key ids cause no traffic.
import type { JwkSet } from "./types.js";

/** A key, and what WebCrypto made of it. */
export interface Key {
  jwk: JsonWebKey & { kid?: string };
  imported?: Promise<CryptoKey>;
}

interface KeySet {
  keys: Map<string, Key>;
  fetchedAt: number;
}

/** Milliseconds for which a set is used without a look at the service. */
const FRESH = 600_000;
/** Milliseconds between two fetches. */
const PAUSE = 10_000;
/** Milliseconds for a fetch. */
const TIMEOUT = 10_000;

const sets = new Map<string, KeySet>();
const running = new Map<string, Promise<KeySet | undefined>>();

/** The key with this id; undefined where the service has none, null where it cannot be asked. */
export async function keyOf(url: string, kid: string, fetcher: typeof fetch): Promise<Key | undefined | null> {
  const set = sets.get(url);
  const known = set?.keys.get(kid);
  const age = set ? Date.now() - set.fetchedAt : Number.POSITIVE_INFINITY;
  if (age <= (known ? FRESH : PAUSE)) return known;
  const fresh = await fetched(url, fetcher);
  // Without an answer the old keys do for what they know.
  return fresh ? fresh.keys.get(kid) : (known ?? null);
}

function fetched(url: string, fetcher: typeof fetch): Promise<KeySet | undefined> {
  const begun = running.get(url);
  if (begun) return begun;
  const asking = ask(url, fetcher).finally(() => running.delete(url));
  running.set(url, asking);
  return asking;
}

async function ask(url: string, fetcher: typeof fetch): Promise<KeySet | undefined> {
  try {
    const response = await fetcher(url, { signal: AbortSignal.timeout(TIMEOUT) });
    if (!response.ok) return undefined;
    const { keys } = (await response.json()) as JwkSet;
    const known = (keys as Key["jwk"][]).filter((jwk) => jwk.kid).map((jwk) => [jwk.kid as string, { jwk }] as const);
    const set = { keys: new Map<string, Key>(known), fetchedAt: Date.now() };
    sets.set(url, set);
    return set;
  } catch {
    return undefined;
  }
}
