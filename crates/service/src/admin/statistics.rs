//! Statistics of the whole service.

use std::collections::BTreeMap;

use latchkey_domain::statistics::{Counts, DayCounts, start_of_day};
use latchkey_domain::time::Timestamp;

use super::Admin;
use crate::error::Result;

/// Statistics of the whole service. They are at most about a minute old.
pub struct Statistics {
    /// Time at which everything was counted.
    pub counted_at: Timestamp,
    pub counts: Counts,
    /// Numbers of events by the start of their day, oldest first, up to today. Every day is present.
    pub days: Vec<(Timestamp, DayCounts)>,
}

impl Admin {
    /// Reads the statistics with the events of the last `days` days, today included. They were counted by upkeep, so
    /// reading them costs the same whatever the number of accounts. If nothing was counted yet, this call counts.
    pub async fn statistics(&self, days: u32) -> Result<Statistics> {
        let now = self.kernel.now();
        let since = start_of_day(now, days.saturating_sub(1));
        let store = &self.kernel.store;
        let mut stored = store.load_statistics(since).await?;
        if stored.is_none() {
            self.kernel.count_statistics_if_due().await?;
            stored = store.load_statistics(since).await?;
        }
        let stored = stored.unwrap_or_default();
        let counted: BTreeMap<_, _> = stored.days.into_iter().collect();
        let day = |before| {
            let starts_at = start_of_day(now, before);
            (starts_at, counted.get(&starts_at).copied().unwrap_or_default())
        };
        let days = (0..days).rev().map(day).collect();
        Ok(Statistics { counted_at: stored.counted_at, counts: stored.counts, days })
    }
}
