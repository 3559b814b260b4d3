//! Operations on statistics: implementation of [`StatisticsStore`].

use async_trait::async_trait;
use latchkey_domain::time::Timestamp;
use latchkey_store::{StatisticsStore, StoreResult, StoredStatistics};

use super::Engine;
use crate::form::{Executor, Receiver, Repeat, Results, Script};
use crate::tables::credentials;
use crate::tables::statistics::{self, Counted, Counting};

/// Maximum number of work classes that are counted; the passwords of further ones count as usual ones.
const MAX_CLASSES: usize = 64;

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

    /// Counts from one snapshot, which locks nothing, and stores the counts by a write of their own: on SQLite the writer
    /// does not wait for the counting. Two instances that count at the same time store the same.
    async fn count_statistics(&self, since: Timestamp, now: Timestamp) -> StoreResult<()> {
        let classes = self.list_password_classes().await?;
        let mut counted = Counted::default();
        self.read_pages(Counting::new(classes, since, now), Latest(&mut counted)).await?;
        let mut writes = Script::default();
        statistics::save(&mut writes, &counted, now)?;
        self.write(writes, Repeat::Harmless, |_| Ok(())).await
    }
}

/// Receiver that keeps the latest page.
struct Latest<'a>(&'a mut Counted);

impl Receiver<Counted> for Latest<'_> {
    async fn take(&mut self, counted: Counted) -> bool {
        *self.0 = counted;
        true
    }
}

impl<E: Executor> Engine<E> {
    /// Lists the work classes in the index of these, by one step of the index for each.
    async fn list_password_classes(&self) -> StoreResult<Vec<String>> {
        let (mut classes, mut from) = (Vec::new(), String::new());
        while classes.len() < MAX_CLASSES {
            let mut script = Script::default();
            let found = credentials::find_beginning(&mut script, &from);
            let find = move |results: &Results<'_>| credentials::found_class(results, found);
            let Some(class) = self.read_long(script, find).await? else { break };
            from = credentials::end_of(&class);
            classes.push(class);
        }
        Ok(classes)
    }
}
