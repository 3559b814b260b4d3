//! What was fetched from a provider and is kept for a while: discovery documents and keys. One request at a time for
//! each; what is old is better than nothing for a day; time is given, never asked for.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use latchkey_domain::time::Timestamp;
use tokio::time::{Instant, timeout_at};

use crate::error::{ProviderError, Stage};
use crate::outbound::too_slow;

/// How long something is kept where the provider does not say.
const USUAL_LIFE: Duration = Duration::from_hours(1);
/// However short a life the provider gives it.
const SHORTEST_LIFE: Duration = Duration::from_mins(5);
/// However long a life the provider gives it: a withdrawn key must go.
const LONGEST_LIFE: Duration = Duration::from_hours(24);
/// How long something old is used while the provider cannot be asked.
const STALE: Duration = Duration::from_hours(24);
/// How long something old is used after a failure before the provider is asked again.
const PAUSE: Duration = Duration::from_secs(30);
/// How long one who asks waits for something newer than what is old: the rest of the sign-in needs time too.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long it takes until what is fresh may be fetched before its time once more.
const RENEWAL_PAUSE: Duration = Duration::from_secs(10);
/// Addresses come from the operator, so there are few; this only bounds a mistake.
const MOST: usize = 512;

/// Things of one kind, by their address.
pub(crate) struct Cache<T> {
    stage: Stage,
    patience: Duration,
    slots: Mutex<HashMap<String, Arc<Slot<T>>>>,
}

/// On whose word something is fetched before its time. Each has renewals of its own, so that strangers cannot use up
/// those of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// What the provider itself answered.
    Provider,
    /// What anybody can send here.
    Stranger,
}

impl Asker {
    /// How often in a row.
    const fn renewals(self) -> u32 {
        match self {
            Self::Provider => 20,
            Self::Stranger => 5,
        }
    }
}

/// What a provider answered, with how long it lets it be kept.
pub(crate) type Fetched<T> = Result<(T, Option<Duration>), ProviderError>;

struct Slot<T> {
    state: Mutex<State<T>>,
    /// Held by whoever asks the provider.
    asking: tokio::sync::Mutex<()>,
}

struct State<T> {
    kept: Option<Kept<T>>,
    /// Counts the answers, good and bad, so that who waited for one knows that it came.
    answers: u64,
    failure: Option<(ProviderError, Timestamp)>,
    renewals: [Renewals; 2],
}

/// Renewals that were made of late; one is forgotten in each [`RENEWAL_PAUSE`].
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
    /// A clock that went back makes nothing fresh.
    fn is_fresh(&self, now: Timestamp) -> bool {
        self.fetched_at <= now && now < self.fresh_until
    }
}

impl<T> Cache<T> {
    pub(crate) fn new(stage: Stage) -> Self {
        Self { stage, patience: PATIENCE, slots: Mutex::new(HashMap::new()) }
    }

    /// What is kept under `key`, or what `fetch` brings.
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
        // No answer where somebody else is asking, and waits as well.
        Ok(self.ask(&slot, seen, now, soon, fetch).await.unwrap_or(stale))
    }

    /// Something newer than `old`, which turned out to lack what was looked for. Gives what there is where it was
    /// renewed too often lately: anybody can send a token with an unknown key.
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

    /// Drops what is kept under `key`, and gives it. Requests under way do not bring it back.
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

    /// A panic elsewhere leaves the table whole.
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
    /// Takes one of `most`, if one is left.
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
