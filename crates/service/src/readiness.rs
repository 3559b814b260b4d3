//! Readiness: whether the storage reads and writes. A single flight with a cache, so that many health checks cost the
//! storage one judgement a second.

use std::error::Error as StdError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use latchkey_store::{StoreError, StoreResult};
use tokio::sync::Mutex;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::kernel::Kernel;

/// The greatest age of an answer.
const FRESH: Duration = Duration::from_secs(1);

/// The cause of an unready storage, shared by all who ask.
type Cause = Arc<dyn StdError + Send + Sync>;

/// The latest judgement.
#[derive(Default)]
struct LatestJudgement {
    latest: Mutex<Option<Judgement>>,
    /// The number of judgements so far.
    judged: AtomicU64,
}

struct Judgement {
    /// Its start by the monotonic clock, so that a time of day that is set back makes no judgement last longer.
    at: Duration,
    outcome: Result<(), Cause>,
}

/// The readiness check of the storage.
pub struct Readiness {
    kernel: Arc<Kernel>,
    latest: LatestJudgement,
}

impl Readiness {
    pub(crate) fn new(kernel: Arc<Kernel>) -> Self {
        Self { kernel, latest: LatestJudgement::default() }
    }

    /// Succeeds if the storage reads and writes, by a judgement that is at most a second old.
    pub async fn check(&self) -> Result<()> {
        let outcome = self.latest.judge(&*self.kernel.clock, || self.kernel.store.check()).await;
        outcome.map_err(|cause| Error::StorageUnavailable(StoreError::Unavailable(cause.into())))
    }
}

impl LatestJudgement {
    /// The latest judgement, or a new one by `check`. All who ask while one is made share it.
    async fn judge<C>(&self, clock: &dyn Clock, check: impl FnOnce() -> C) -> Result<(), Cause>
    where
        C: Future<Output = StoreResult<()>>,
    {
        let judged_before = self.judged.load(Ordering::Acquire);
        let mut latest = self.latest.lock().await;
        let is_shared = self.judged.load(Ordering::Acquire) > judged_before;
        let at = clock.steady();
        if let Some(judgement) = latest.as_ref().filter(|latest| is_shared || latest.is_fresh(at)) {
            return judgement.outcome.clone();
        }
        let outcome = check().await.map_err(cause_of);
        *latest = Some(Judgement { at, outcome: outcome.clone() });
        self.judged.fetch_add(1, Ordering::Release);
        outcome
    }
}

impl Judgement {
    fn is_fresh(&self, now: Duration) -> bool {
        now.saturating_sub(self.at) < FRESH
    }
}

fn cause_of(error: StoreError) -> Cause {
    match error {
        StoreError::Unavailable(cause) => cause.into(),
        other => Arc::new(other),
    }
}

#[cfg(test)]
mod tests;
