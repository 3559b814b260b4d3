//! Purge of rows past their retention. Each table is a transaction of its own, so that other writes run in between.

use latchkey_domain::time::Timestamp;
use latchkey_store::{FEED_PURGE_BATCHES, PURGE_BATCH, StoreResult};
use latchkey_store_operations::form::to_sqlite;
use latchkey_store_operations::tables::PURGED;
use latchkey_store_operations::tables::purges::PurgedRows;
use rusqlite::params;

use crate::search::pending;
use crate::search_feed;
use crate::statements::execute;
use crate::store::Sqlite;

const WIPE_SEALS: &str = "
    UPDATE sessions SET sealed_successor = NULL, sealed_until = NULL WHERE id IN
        (SELECT id FROM sessions WHERE sealed_until < ?1 ORDER BY sealed_until LIMIT ?2)";

/// Number of profiles that a purge adds to the search index in one batch, which takes some ten milliseconds.
const INDEXED_AT_ONCE: u32 = 1_024;
/// Maximum number of such batches: enough for the million profiles that a large import leaves behind. They take about ten
/// seconds, during which other writes run between the batches.
const INDEXING_BATCHES: usize = 1_000;

impl Sqlite {
    /// Deletes up to [`PURGE_BATCH`] rows per retention rule and returns their total. Also deletes old changes of the
    /// search feed and sealed refresh tokens past their grace period, without counting them, and adds changed profiles
    /// to the search index.
    pub(crate) async fn purge_all(&self, now: Timestamp) -> StoreResult<u64> {
        let mut deleted = 0;
        for rows in PURGED {
            deleted += self.purge_rows(statement(rows), rows.until(now)).await?;
        }
        // Every purge deletes all expired ones, however many sessions refresh, because they are needed only during the
        // grace period.
        while self.purge_rows(WIPE_SEALS.to_owned(), now).await? >= u64::from(PURGE_BATCH) {}
        for _ in 0..FEED_PURGE_BATCHES {
            if self.run(move |conn| search_feed::purge(conn, now)).await? < u64::from(PURGE_BATCH) {
                break;
            }
        }
        for _ in 0..INDEXING_BATCHES {
            if self.run(|conn| pending::index_pending(conn, INDEXED_AT_ONCE)).await?
                < INDEXED_AT_ONCE as usize
            {
                break;
            }
        }
        Ok(deleted)
    }

    async fn purge_rows(&self, statement: String, until: Timestamp) -> StoreResult<u64> {
        self.run(move |conn| Ok(execute(conn, &statement, params![until.as_millis(), PURGE_BATCH])? as u64))
            .await
    }
}

fn statement(rows: &PurgedRows) -> String {
    let PurgedRows { table, key, condition, age, .. } = rows;
    to_sqlite(&format!(
        "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {condition} ORDER BY {age} LIMIT $2)"
    ))
}
