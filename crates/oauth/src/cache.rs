//! Cache of discovery documents and keys by URL. A value has a time-to-live and is served for a day longer while the
//! provider fails. Each URL has one request at a time and a backoff between attempts. Callers pass the current time.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use latchkey_domain::time::Timestamp;
use tokio::time::{Instant, timeout_at};

use crate::error::{ProviderError, Stage};
use crate::outbound::too_slow;

/// Default time-to-live, if the provider sends no `max-age`.
const DEFAULT_TTL: Duration = Duration::from_hours(1);
/// Minimum time-to-live, even if the provider's `max-age` is shorter.
const MIN_TTL: Duration = Duration::from_mins(5);
/// Maximum time-to-live, so that keys withdrawn by the provider expire.
const MAX_TTL: Duration = Duration::from_hours(24);
/// Period after expiry during which the old value is still served while the provider fails.
const STALE_IF_ERROR: Duration = Duration::from_hours(24);
/// Backoff after a failure, during which a stale value is served without a request.
const BACKOFF: Duration = Duration::from_secs(30);
/// Time that a sign-in waits for a new value before it uses the expired one. The rest of the sign-in's timeout is left
/// for further requests.
const REFRESH_WAIT: Duration = Duration::from_secs(2);
/// Interval after which the rate limit allows one more early renewal: a new fetch of a value that is not expired.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum number of cached URLs; a full cache is cleared. URLs come from the operator's configuration, so only a
/// mistake could exceed it.
const CAPACITY: usize = 512;

pub(crate) struct Cache<T> {
    stage: Stage,
    refresh_wait: Duration,
    slots: Mutex<HashMap<String, Arc<Slot<T>>>>,
}

/// The cause of an early renewal: a new fetch of a value that is not expired. Each cause has a rate limit of its own,
/// so that clients that send forged tokens cannot use up the renewals that the provider's own responses need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RenewalSource {
    /// The renewal is caused by a response from the provider itself.
    Provider,
    /// The renewal is caused by untrusted input, such as an `id_token` sent by a client.
    Untrusted,
}

impl RenewalSource {
    /// Returns the capacity of the [`RenewalBucket`]: the maximum number of early renewals at once.
    const fn renewals(self) -> u32 {
        match self {
            Self::Provider => 20,
            Self::Untrusted => 5,
        }
    }
}

/// The outcome of a request to a provider: the value and its `max-age`, if the provider sends one.
pub(crate) type Fetched<T> = Result<(T, Option<Duration>), ProviderError>;

struct Slot<T> {
    state: Mutex<SlotState<T>>,
    /// Locked during a request to the provider, so that there is only one at a time.
    in_flight: tokio::sync::Mutex<()>,
}

struct SlotState<T> {
    cached: Option<Cached<T>>,
    /// Number of responses so far, including failures. A change of this number tells waiting callers that a concurrent
    /// request ended.
    responses: u64,
    failure: Option<(ProviderError, Timestamp)>,
    renewals: [RenewalBucket; 2],
}

/// Leaky bucket that limits early renewals of one URL. It allows one more in every [`RENEWAL_INTERVAL`].
#[derive(Default)]
struct RenewalBucket {
    made: u32,
    counted_at: Timestamp,
}

struct Cached<T> {
    value: Arc<T>,
    fetched_at: Timestamp,
    fresh_until: Timestamp,
}

impl<T> Cached<T> {
    /// Returns `false` for an expired value, and if the clock was set back to before the fetch.
    fn is_fresh(&self, now: Timestamp) -> bool {
        self.fetched_at <= now && now < self.fresh_until
    }
}

impl<T> Cache<T> {
    pub(crate) fn new(stage: Stage) -> Self {
        Self { stage, refresh_wait: REFRESH_WAIT, slots: Mutex::new(HashMap::new()) }
    }

    /// Returns the cached value of the URL `key`, or fetches it.
    pub(crate) async fn get<F: Future<Output = Fetched<T>>>(
        &self,
        key: &str,
        now: Timestamp,
        deadline: Instant,
        fetch: impl FnOnce() -> F,
    ) -> Result<Arc<T>, ProviderError> {
        let slot = self.slot(key);
        let (seen, stale) = {
            let state = slot.state();
            if let Some(value) = state.servable(now) {
                return Ok(value);
            }
            (state.responses, state.stale(now))
        };
        let Some(stale) = stale else { return self.fetch_once(&slot, seen, now, deadline, fetch).await };
        let soon = deadline.min(Instant::now() + self.refresh_wait);
        // Falls back to the stale value if the request, ours or a concurrent one, is too slow.
        Ok(self.fetch_once(&slot, seen, now, soon, fetch).await.unwrap_or(stale))
    }

    /// Fetches a key set or document again before it expires, because it lacks what the caller needs, such as the
    /// public key of a token. Returns `old` if too many early renewals were made. Their number is limited, because
    /// anyone can send a token with an unknown key id.
    pub(crate) async fn renew<F: Future<Output = Fetched<T>>>(
        &self,
        key: &str,
        old: &Arc<T>,
        source: RenewalSource,
        now: Timestamp,
        deadline: Instant,
        fetch: impl FnOnce() -> F,
    ) -> Result<Arc<T>, ProviderError> {
        let slot = self.slot(key);
        let seen = {
            let mut state = slot.state();
            if let Some(cached) = state.cached.as_ref().filter(|cached| !Arc::ptr_eq(&cached.value, old)) {
                return Ok(Arc::clone(&cached.value));
            }
            if !state.renewals[source as usize].take(source.renewals(), now) {
                return Ok(Arc::clone(old));
            }
            state.responses
        };
        self.fetch_once(&slot, seen, now, deadline, fetch).await
    }

    /// Evicts and returns the value of the URL `key`. The response of a request in flight is not cached.
    pub(crate) fn evict(&self, key: &str) -> Option<Arc<T>> {
        let slot = self.slots().remove(key)?;
        let state = slot.state();
        state.cached.as_ref().map(|cached| Arc::clone(&cached.value))
    }

    async fn fetch_once<F: Future<Output = Fetched<T>>>(
        &self,
        slot: &Slot<T>,
        seen: u64,
        now: Timestamp,
        deadline: Instant,
        fetch: impl FnOnce() -> F,
    ) -> Result<Arc<T>, ProviderError> {
        let in_flight = timeout_at(deadline, slot.in_flight.lock()).await;
        let _permit = in_flight.map_err(|_| too_slow(self.stage))?;
        if let Some(response) = slot.state().response_since(seen, now) {
            return response; // the response to a concurrent request
        }
        let fetched = timeout_at(deadline, fetch()).await.unwrap_or_else(|_| Err(too_slow(self.stage)));
        slot.state().take(fetched, now)
    }

    fn slot(&self, key: &str) -> Arc<Slot<T>> {
        let mut slots = self.slots();
        if slots.len() >= CAPACITY && !slots.contains_key(key) {
            slots.clear();
        }
        Arc::clone(slots.entry(key.to_owned()).or_insert_with(Slot::new))
    }

    /// Locks the map. Poisoning is ignored, because the map is always consistent.
    fn slots(&self) -> MutexGuard<'_, HashMap<String, Arc<Slot<T>>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Slot<T> {
    fn new() -> Arc<Self> {
        let state = SlotState { cached: None, responses: 0, failure: None, renewals: Default::default() };
        Arc::new(Self { state: Mutex::new(state), in_flight: tokio::sync::Mutex::new(()) })
    }

    fn state(&self) -> MutexGuard<'_, SlotState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> SlotState<T> {
    fn servable(&self, now: Timestamp) -> Option<Arc<T>> {
        let cached = self.cached.as_ref()?;
        let is_backing_off =
            self.failure.as_ref().is_some_and(|(_, at)| *at <= now && now < at.plus(BACKOFF));
        let is_usable = cached.is_fresh(now) || (is_backing_off && self.stale(now).is_some());
        is_usable.then(|| Arc::clone(&cached.value))
    }

    fn stale(&self, now: Timestamp) -> Option<Arc<T>> {
        let cached = self.cached.as_ref().filter(|cached| now < cached.fresh_until.plus(STALE_IF_ERROR))?;
        Some(Arc::clone(&cached.value))
    }

    fn response_since(&self, seen: u64, now: Timestamp) -> Option<Result<Arc<T>, ProviderError>> {
        if self.responses == seen {
            return None;
        }
        match &self.failure {
            Some((error, _)) => Some(self.stale(now).ok_or_else(|| error.clone())),
            None => self.cached.as_ref().map(|cached| Ok(Arc::clone(&cached.value))),
        }
    }

    fn take(&mut self, fetched: Fetched<T>, now: Timestamp) -> Result<Arc<T>, ProviderError> {
        self.responses += 1;
        match fetched {
            Ok((value, ttl)) => {
                let value = Arc::new(value);
                let ttl = ttl.unwrap_or(DEFAULT_TTL).clamp(MIN_TTL, MAX_TTL);
                let cached =
                    Cached { value: Arc::clone(&value), fetched_at: now, fresh_until: now.plus(ttl) };
                self.cached = Some(cached);
                self.failure = None;
                Ok(value)
            }
            Err(error) => {
                self.failure = Some((error.clone(), now));
                self.stale(now).ok_or(error)
            }
        }
    }
}

impl RenewalBucket {
    /// Takes one of at most `most` early renewals; returns `false` if none is left.
    fn take(&mut self, most: u32, now: Timestamp) -> bool {
        if now < self.counted_at {
            *self = Self::default(); // the clock was set back
        }
        let mut drained = now.since(self.counted_at).as_secs() / RENEWAL_INTERVAL.as_secs();
        if drained >= u64::from(self.made) {
            self.counted_at = now;
            self.made = 0;
            drained = 0;
        }
        let drained = u32::try_from(drained).unwrap_or(u32::MAX);
        self.made -= drained;
        self.counted_at = self.counted_at.plus(RENEWAL_INTERVAL * drained);
        let is_left = self.made < most;
        self.made += u32::from(is_left);
        is_left
    }
}

#[cfg(test)]
mod tests;
