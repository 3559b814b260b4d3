//! Operations on statistics: implementation of [`StatisticsStore`].

use async_trait::async_trait;
use latchkey_domain::time::Timestamp;
use latchkey_store::{StatisticsStore, StoreResult, StoredStatistics};

use super::Engine;
use crate::form::{Executor, Repeat, Script};
use crate::tables::statistics::{self, Counting};

#[crate::measured]
#[async_trait]
impl<E: Executor> StatisticsStore for Engine<E> {
    async fn load_statistics(&self, since: Timestamp) -> StoreResult<Option<StoredStatistics>> {
        let mut script = Script::default();
        let found = statistics::find(&mut script);
        let days = statistics::list_days(&mut script, since);
        self.read(script, move |results| {
            let Some((counted_at, counts)) = results.find(found, statistics::read)? else { return Ok(None) };
            let days = results.list(days, statistics::read_day)?;
            Ok(Some(StoredStatistics { counted_at, counts, days }))
        })
        .await
    }

    /// Counts in one read, which locks nothing, and stores the counts by a write of their own: on SQLite the writer
    /// does not wait for the counting. Two instances that count at the same time store the same.
    async fn count_statistics(&self, since: Timestamp, now: Timestamp) -> StoreResult<()> {
        let mut reads = Script::default();
        let counting = Counting::add(&mut reads, since, now);
        let (counts, days) = self
            .read_long(reads, move |results| Ok((counting.counts(results)?, counting.days(results)?)))
            .await?;
        let mut writes = Script::default();
        statistics::save(&mut writes, &counts, &days, now)?;
        self.write(writes, Repeat::Harmless, |_| Ok(())).await
    }
}
