//! Contract for statistics: counts of the whole service, which are stored so that reading them is cheap.

use async_trait::async_trait;
use latchkey_domain::statistics::{Counts, DayCounts};
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// Stored statistics.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredStatistics {
    /// Time at which everything was counted.
    pub counted_at: Timestamp,
    /// Counts of that time.
    pub counts: Counts,
    /// Numbers of events by the start of their day, oldest first. A day without events may be absent.
    pub days: Vec<(Timestamp, DayCounts)>,
}

/// Statistics of the whole service.
#[async_trait]
pub trait StatisticsStore {
    /// Loads the stored statistics with the days that start at `since` or later; `None` if nothing was counted yet.
    async fn load_statistics(&self, since: Timestamp) -> StoreResult<Option<StoredStatistics>>;

    /// Counts everything anew and stores it. This may take seconds with millions of accounts. Events are counted from
    /// the start of the last stored day, because earlier days are complete, but not before `since`.
    async fn count_statistics(&self, since: Timestamp, now: Timestamp) -> StoreResult<()>;
}
