//! Cache of discovery documents and keys: time-to-live, single flight per URL, stale-if-error for a day,
//! negative caching of failures. Time is passed in.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use latchkey_domain::time::Timestamp;
use tokio::time::{Instant, timeout_at};

use crate::error::{ProviderError, Stage};
use crate::outbound::too_slow;

/// Default time-to-live, if the provider gives none.
const USUAL_LIFE: Duration = Duration::from_hours(1);
/// Minimum time-to-live.
const SHORTEST_LIFE: Duration = Duration::from_mins(5);
/// Maximum time-to-live: withdrawn keys must expire.
const LONGEST_LIFE: Duration = Duration::from_hours(24);
/// Period after expiry during which a stale value is served if the provider fails.
const STALE: Duration = Duration::from_hours(24);
/// Backoff after a failure, during which a stale value is served without a request.
const PAUSE: Duration = Duration::from_secs(30);
/// Time that a caller waits for a refresh before it takes the stale value: the sign-in needs time for other
/// requests.
const PATIENCE: Duration = Duration::from_secs(2);
/// Refill interval of early renewals of a fresh value.
const RENEWAL_PAUSE: Duration = Duration::from_secs(10);
/// Capacity; beyond it the cache is cleared. URLs come from the operator, so this only bounds a mistake.
const MOST: usize = 512;

/// A cache of values by URL.
pub(crate) struct Cache<T> {
    stage: Stage,
    patience: Duration,
    slots: Mutex<HashMap<String, Arc<Slot<T>>>>,
}

/// Origin of a request for early renewal. Each has its own budget, so that strangers cannot use up the
/// provider's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// A response from the provider itself.
    Provider,
    /// Untrusted input that anybody can send.
    Stranger,
}

impl Asker {
    /// Burst of early renewals.
    const fn renewals(self) -> u32 {
        match self {
            Self::Provider => 20,
            Self::Stranger => 5,
        }
    }
}

/// A fetched value with its `max-age`.
pub(crate) type Fetched<T> = Result<(T, Option<Duration>), ProviderError>;

struct Slot<T> {
    state: Mutex<State<T>>,
    /// Single flight: held during a request to the provider.
    asking: tokio::sync::Mutex<()>,
}

struct State<T> {
    kept: Option<Kept<T>>,
    /// Number of responses, including failures, by which waiting callers notice one.
    answers: u64,
    failure: Option<(ProviderError, Timestamp)>,
    renewals: [Renewals; 2],
}

/// Leaky bucket of early renewals, which drains by one every [`RENEWAL_PAUSE`].
#[derive(Default)]
struct Renewals {
    made: u32,
    counted_at: Timestamp,
}

struct Kept<T> {
    value: Arc<T>,
    fetched_at: Timestamp,
    fresh_until: Timestamp,
}

impl<T> Kept<T> {
    /// False after the clock stepped back.
    fn is_fresh(&self, now: Timestamp) -> bool {
        self.fetched_at <= now && now < self.fresh_until
    }
}

impl<T> Cache<T> {
    pub(crate) fn new(stage: Stage) -> Self {
        Self { stage, patience: PATIENCE, slots: Mutex::new(HashMap::new()) }
    }

    /// Returns the cached value of `key`, or fetches it.
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
            if let Some(value) = state.usable_at_once(now) {
                return Ok(value);
            }
            (state.answers, state.stale(now))
        };
        let Some(stale) = stale else { return self.ask(&slot, seen, now, deadline, fetch).await };
        let soon = deadline.min(Instant::now() + self.patience);
        // Falls back to the stale value if the request, ours or a concurrent one, is too slow.
        Ok(self.ask(&slot, seen, now, soon, fetch).await.unwrap_or(stale))
    }

    /// Renews a value that lacks the wanted key. Returns the present value if the budget of renewals is used
    /// up: anybody can send a token with an unknown key.
    pub(crate) async fn renew<F: Future<Output = Fetched<T>>>(
        &self,
        key: &str,
        old: &Arc<T>,
        asker: Asker,
        now: Timestamp,
        deadline: Instant,
        fetch: impl FnOnce() -> F,
    ) -> Result<Arc<T>, ProviderError> {
        let slot = self.slot(key);
        let seen = {
            let mut state = slot.state();
            if let Some(kept) = state.kept.as_ref().filter(|kept| !Arc::ptr_eq(&kept.value, old)) {
                return Ok(Arc::clone(&kept.value));
            }
            if !state.renewals[asker as usize].take(asker.renewals(), now) {
                return Ok(Arc::clone(old));
            }
            state.answers
        };
        self.ask(&slot, seen, now, deadline, fetch).await
    }

    /// Evicts and returns the value of `key`. Requests in flight do not restore it.
    pub(crate) fn forget(&self, key: &str) -> Option<Arc<T>> {
        let slot = self.slots().remove(key)?;
        let state = slot.state();
        state.kept.as_ref().map(|kept| Arc::clone(&kept.value))
    }

    async fn ask<F: Future<Output = Fetched<T>>>(
        &self,
        slot: &Slot<T>,
        seen: u64,
        now: Timestamp,
        deadline: Instant,
        fetch: impl FnOnce() -> F,
    ) -> Result<Arc<T>, ProviderError> {
        let asking = timeout_at(deadline, slot.asking.lock()).await;
        let _asking = asking.map_err(|_| too_slow(self.stage))?;
        if let Some(answer) = slot.state().answer_since(seen, now) {
            return answer; // somebody else's request, while this one waited
        }
        let fetched = timeout_at(deadline, fetch()).await.unwrap_or_else(|_| Err(too_slow(self.stage)));
        slot.state().take(fetched, now)
    }

    fn slot(&self, key: &str) -> Arc<Slot<T>> {
        let mut slots = self.slots();
        if slots.len() >= MOST && !slots.contains_key(key) {
            slots.clear();
        }
        Arc::clone(slots.entry(key.to_owned()).or_insert_with(Slot::new))
    }

    /// Ignores poisoning: the map is always consistent.
    fn slots(&self) -> MutexGuard<'_, HashMap<String, Arc<Slot<T>>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Slot<T> {
    fn new() -> Arc<Self> {
        let state = State { kept: None, answers: 0, failure: None, renewals: Default::default() };
        Arc::new(Self { state: Mutex::new(state), asking: tokio::sync::Mutex::new(()) })
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn usable_at_once(&self, now: Timestamp) -> Option<Arc<T>> {
        let kept = self.kept.as_ref()?;
        let failed_just_now = self.failure.as_ref().is_some_and(|(_, at)| *at <= now && now < at.plus(PAUSE));
        let is_usable = kept.is_fresh(now) || (failed_just_now && self.stale(now).is_some());
        is_usable.then(|| Arc::clone(&kept.value))
    }

    fn stale(&self, now: Timestamp) -> Option<Arc<T>> {
        let kept = self.kept.as_ref().filter(|kept| now < kept.fresh_until.plus(STALE))?;
        Some(Arc::clone(&kept.value))
    }

    fn answer_since(&self, seen: u64, now: Timestamp) -> Option<Result<Arc<T>, ProviderError>> {
        if self.answers == seen {
            return None;
        }
        match &self.failure {
            Some((error, _)) => Some(self.stale(now).ok_or_else(|| error.clone())),
            None => self.kept.as_ref().map(|kept| Ok(Arc::clone(&kept.value))),
        }
    }

    fn take(&mut self, fetched: Fetched<T>, now: Timestamp) -> Result<Arc<T>, ProviderError> {
        self.answers += 1;
        match fetched {
            Ok((value, life)) => {
                let value = Arc::new(value);
                let life = life.unwrap_or(USUAL_LIFE).clamp(SHORTEST_LIFE, LONGEST_LIFE);
                let kept = Kept { value: Arc::clone(&value), fetched_at: now, fresh_until: now.plus(life) };
                self.kept = Some(kept);
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

impl Renewals {
    /// Takes one of `most` renewals, if available.
    fn take(&mut self, most: u32, now: Timestamp) -> bool {
        if now < self.counted_at {
            *self = Self::default(); // the clock went back
        }
        let mut forgotten = now.since(self.counted_at).as_secs() / RENEWAL_PAUSE.as_secs();
        if forgotten >= u64::from(self.made) {
            self.counted_at = now;
            self.made = 0;
            forgotten = 0;
        }
        let forgotten = u32::try_from(forgotten).unwrap_or(u32::MAX);
        self.made -= forgotten;
        self.counted_at = self.counted_at.plus(RENEWAL_PAUSE * forgotten);
        let is_left = self.made < most;
        self.made += u32::from(is_left);
        is_left
    }
}

#[cfg(test)]
mod tests;
