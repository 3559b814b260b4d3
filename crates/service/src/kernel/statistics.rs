//! Renewal of the statistics: by a worker, and by the first reader of a new database. The metrics get them too.

use std::sync::Arc;

use latchkey_domain::statistics::{MOST_DAYS, are_outdated, start_of_day};

use super::Kernel;
use crate::error::Result;

impl Kernel {
    /// Counts the statistics anew if no instance did so within the last minute. That may take minutes, so one caller counts,
    /// and the others wait for it and then find what it stored.
    pub(crate) async fn count_statistics_if_due(self: &Arc<Self>) -> Result<()> {
        let kernel = Arc::clone(self);
        self.counting.run(async move { kernel.renew_statistics().await }).await
    }

    async fn renew_statistics(&self) -> Result<()> {
        let (now, store) = (self.now(), &self.store);
        let today = start_of_day(now, 0);
        let mut stored = store.load_statistics(today).await?;
        if stored.as_ref().is_none_or(|stored| are_outdated(stored.counted_at, now)) {
            store.count_statistics(start_of_day(now, MOST_DAYS - 1), now).await?;
            stored = store.load_statistics(today).await?;
        }
        if let Some(stored) = stored {
            self.metrics.set_counts(stored.counts);
        }
        Ok(())
    }
}
