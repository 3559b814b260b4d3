//! Deleting what is past its use. One table at a time, so that other writes get in between.

use latchkey_domain::time::Timestamp;
use latchkey_store::{CHANGE_PURGES, PURGED_AT_ONCE, StoreResult};
use latchkey_store_operations::form::to_sqlite;
use latchkey_store_operations::tables::purges::{PURGED, PurgedRows};
use rusqlite::params;

use crate::search::pending;
use crate::search_feed;
use crate::statements::execute;
use crate::store::Sqlite;

const WIPE_SEALS: &str = "
    UPDATE sessions SET sealed_successor = NULL, sealed_until = NULL WHERE id IN
        (SELECT id FROM sessions WHERE sealed_until < ?1 ORDER BY sealed_until LIMIT ?2)";

/// Rounds at a purge of bringing the index for searches up to date: for a hundred thousand profiles.
const TAKE_UPS: usize = 400;

impl Sqlite {
    /// Deletes up to [`PURGED_AT_ONCE`] rows of each table; answers how many in all. Changes that indexes
    /// have read and sealed refresh tokens past their grace go as well, and are not counted. The index for searches is
    /// brought up to date.
    pub(crate) async fn purge_all(&self, now: Timestamp) -> StoreResult<u64> {
        let mut deleted = 0;
        for rows in &PURGED {
            deleted += self.purge_rows(statement(rows), rows.until(now)).await?;
        }
        // All sealed tokens at every purge, however many sessions refresh: they are kept for their grace alone. Neither
        // they nor changes that were kept for indexes are counted.
        while self.purge_rows(WIPE_SEALS.to_owned(), now).await? >= u64::from(PURGED_AT_ONCE) {}
        for _ in 0..CHANGE_PURGES {
            if self.run(move |conn| search_feed::purge(conn, now)).await? < u64::from(PURGED_AT_ONCE) {
                break;
            }
        }
        for _ in 0..TAKE_UPS {
            if self.run(|conn| pending::take_up(conn, pending::AT_ONCE)).await? < pending::AT_ONCE as usize {
                break;
            }
        }
        Ok(deleted)
    }

    async fn purge_rows(&self, statement: String, until: Timestamp) -> StoreResult<u64> {
        self.run(
            move |conn| Ok(execute(conn, &statement, params![until.as_millis(), PURGED_AT_ONCE])? as u64),
        )
        .await
    }
}

fn statement(rows: &PurgedRows) -> String {
    let PurgedRows { table, key, condition, age, .. } = rows;
    to_sqlite(&format!(
        "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {condition} ORDER BY {age} LIMIT $2)"
    ))
}
