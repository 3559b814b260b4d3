//! The search feed: a table of changes of profiles, from which every process updates its search index in
//! memory. Triggers number the changes (column `place`) and write them (`migrations/0012_search_feed.sql`).
//! Because there is a single writer, changes become visible in the order of these numbers, so the cursor of a
//! reader is the number of the last change read.

use std::collections::HashSet;

use async_trait::async_trait;
use latchkey_domain::ids::ProfileId;
use latchkey_domain::profile::Profile;
use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    FEED_LIMIT, FEED_RETENTION, FeedPosition, FeedRead, PURGE_BATCH, SearchChange, SearchEntry, SearchFeed,
    StoreResult,
};
use latchkey_store_operations::form::Cells;
use latchkey_store_operations::{profile_columns, tables::profiles};
use rusqlite::{Connection, params};

use crate::errors::Fallible;
use crate::statements::{execute, find, list, moment, number};
use crate::store::Sqlite;

/// Maximum number of changes per read.
const BATCH: i64 = 4_096;
/// Maximum number of changes that are read on the calling thread, as a point read.
const SMALL_READ: i64 = 64;

const FIND_END: &str = "SELECT coalesce(max(place), 0) FROM search_feed";
const FIND_PURGED: &str = "SELECT purged FROM search_feed_state WHERE id = 1";
const LIST_CHANGES: &str = "
    SELECT place, profile_id, created_at FROM search_feed WHERE place > ?1 ORDER BY place LIMIT ?2";
const FIND_ENTRY: &str = "
    SELECT id, created_at, folded_name, folded_username, folded_bio FROM profiles AS p WHERE id = ?1 AND searchable = 1";
const LIST_ENTRIES: &str = "
    SELECT id, created_at, folded_name, folded_username, folded_bio FROM profiles
    WHERE id > ?1 AND searchable = 1 ORDER BY id LIMIT ?2";
const FIND_FOUND: &str =
    concat!("SELECT ", profile_columns!(), " FROM profiles AS p WHERE id = ?1 AND searchable = 1");
const SET_PURGED: &str = "UPDATE search_feed_state SET purged = ?1 WHERE id = 1 AND purged < ?1";
const MARK: &str = "
    UPDATE search_feed_state SET purged = max(purged, marked_place), marked_place = ?2, marked_at = ?3
    WHERE id = 1 AND marked_at <= ?1";
const DELETE_CHANGES: &str = "
    DELETE FROM search_feed WHERE place IN (
        SELECT place FROM search_feed
        WHERE place <= (SELECT purged FROM search_feed_state WHERE id = 1) AND place < ?1
        ORDER BY place LIMIT ?2)";

#[async_trait]
impl SearchFeed for Sqlite {
    async fn search_position(&self) -> StoreResult<FeedPosition> {
        self.read_here(|conn| Ok(position(number(conn, FIND_END, [])?)))
    }

    async fn list_search_entries(
        &self,
        after: Option<ProfileId>,
        limit: u32,
    ) -> StoreResult<Vec<SearchEntry>> {
        self.read_elsewhere(move |conn| {
            let after = after.map(|id| id.as_uuid().as_bytes().to_vec()).unwrap_or_default(); // empty sorts before all
            list(conn, LIST_ENTRIES, params![after, limit], read_entry)
        })
        .await
    }

    async fn list_search_changes(&self, after: &FeedPosition) -> StoreResult<FeedRead> {
        let Ok(after) = after.0.parse::<i64>() else { return Ok(FeedRead::Lost) };
        let end = self.read_here(|conn| number(conn, FIND_END, []))?;
        match end - after {
            // A restored backup may end before the cursor.
            i64::MIN..0 => Ok(FeedRead::Lost),
            0 => Ok(FeedRead::Changes { changes: Vec::new(), position: position(after), has_more: false }),
            1..=SMALL_READ => self.read_here(|conn| list_changes(conn, after)),
            _ => self.read_elsewhere(move |conn| list_changes(conn, after)).await,
        }
    }

    async fn list_found_profiles(&self, ids: &[ProfileId]) -> StoreResult<Vec<Profile>> {
        self.read_here(|conn| {
            let mut found = Vec::with_capacity(ids.len());
            for id in ids {
                found.extend(find(
                    conn,
                    FIND_FOUND,
                    params![id.as_uuid().as_bytes()],
                    profiles::read_profile,
                )?);
            }
            Ok(found)
        })
    }
}

fn list_changes(conn: &Connection, after: i64) -> Fallible<FeedRead> {
    let _moment = moment(conn)?;
    if number(conn, FIND_PURGED, [])? > after {
        return Ok(FeedRead::Lost);
    }
    let rows = list(conn, LIST_CHANGES, params![after, BATCH], read_change)?;
    let end = rows.last().map_or(after, |(place, ..)| *place);
    let has_more = i64::try_from(rows.len()).is_ok_and(|count| count == BATCH);
    let mut seen = HashSet::new();
    let mut changes = Vec::new();
    for (_, id, created_at) in rows {
        if seen.insert(id) {
            let entry = find(conn, FIND_ENTRY, params![id.as_uuid().as_bytes()], read_entry)?;
            changes.push(entry.map_or(SearchChange::Hidden { id, created_at }, SearchChange::Shown));
        }
    }
    Ok(FeedRead::Changes { changes, position: position(end), has_more })
}

/// Deletes a batch of old changes and returns their number. The last change is never deleted, because the `place` of
/// the next change is counted from it.
pub(crate) fn purge(conn: &Connection, now: Timestamp) -> Fallible<u64> {
    let end = number(conn, FIND_END, [])?;
    let marked_before = now.minus(FEED_RETENTION).as_millis();
    execute(conn, SET_PURGED, params![end - i64::from(FEED_LIMIT)])?;
    execute(conn, MARK, params![marked_before, end, now.as_millis()])?;
    Ok(execute(conn, DELETE_CHANGES, params![end, PURGE_BATCH])? as u64)
}

fn position(place: i64) -> FeedPosition {
    FeedPosition(place.to_string())
}

fn read_change(cells: &mut Cells<'_>) -> StoreResult<(i64, ProfileId, Timestamp)> {
    let cells = cells.of("search_feed");
    Ok((cells.int("place")?, cells.id("profile_id")?, cells.time("created_at")?))
}

fn read_entry(cells: &mut Cells<'_>) -> StoreResult<SearchEntry> {
    let cells = cells.of("profiles");
    Ok(SearchEntry {
        id: cells.id("id")?,
        created_at: cells.time("created_at")?,
        text: SearchText {
            name: cells.text("folded_name")?.to_owned(),
            username: cells.text("folded_username")?.to_owned(),
            bio: cells.text("folded_bio")?.to_owned(),
        },
    })
}
