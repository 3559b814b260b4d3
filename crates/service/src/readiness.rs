//! The readiness check of the database: it must be readable and writable. Concurrent health checks share one database
//! check, and its outcome is cached for a second.

use std::error::Error as StdError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use latchkey_store::{StoreError, StoreResult};
use tokio::sync::Mutex;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::kernel::Kernel;

/// The time for which the outcome of a check is cached.
const FRESH: Duration = Duration::from_secs(1);

/// The cause of a failed check. Shared by reference count, because all concurrent health checks return it.
type Cause = Arc<dyn StdError + Send + Sync>;

/// The cached outcome of the latest database check.
#[derive(Default)]
struct LatestJudgement {
    latest: Mutex<Option<Judgement>>,
    /// The number of completed database checks. A waiting caller sees by it that a check ended meanwhile.
    judged: AtomicU64,
}

struct Judgement {
    /// The start of the check by the monotonic clock. The system time is not used, because it can be set back.
    at: Duration,
    outcome: Result<(), Cause>,
}

pub struct Readiness {
    kernel: Arc<Kernel>,
    latest: LatestJudgement,
}

impl Readiness {
    pub(crate) fn new(kernel: Arc<Kernel>) -> Self {
        Self { kernel, latest: LatestJudgement::default() }
    }

    /// Succeeds if the database is readable and writable, according to a check that is at most a second old.
    pub async fn check(&self) -> Result<()> {
        let outcome = self.latest.judge(&*self.kernel.clock, || self.kernel.store.check()).await;
        outcome.map_err(|cause| Error::StorageUnavailable(StoreError::Unavailable(cause.into())))
    }
}

impl LatestJudgement {
    /// Returns the cached outcome if it is recent; otherwise calls `check` and returns its outcome. Callers
    /// that arrive during a call of `check` share its outcome.
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
