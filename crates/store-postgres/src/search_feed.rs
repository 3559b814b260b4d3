//! Following what search shows. Triggers write the changes, each with the number of its transaction
//! (`migrations/0012_search_feed.sql`). How far one has read is a snapshot: what it did not see yet is what is new, in
//! whatever order transactions end.

use std::collections::HashSet;

use async_trait::async_trait;
use latchkey_domain::ids::ProfileId;
use latchkey_domain::profile::Profile;
use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    CHANGES_KEPT, FeedPosition, FeedRead, MOST_CHANGES_KEPT, PURGED_AT_ONCE, SearchChange, SearchEntry,
    SearchFeed, StoreResult,
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::errors::{EngineFault, Fallible, driver};
use crate::profiles::{profile_columns, read_profile};
use crate::rows::Cells;
use crate::script::Script;
use crate::store::PostgresStore;
use crate::values::{Value, values};

/// So many changes are read at the most: reading everything anew is quicker than more.
const MOST: i64 = 200_000;

const FIND_POSITION: &str = "SELECT pg_current_snapshot()::text";
/// The first row is there even without changes.
const LIST_CHANGES: &str = "
    SELECT pg_current_snapshot()::text, s.purged, c.profile_id, c.created_at, p.id IS NOT NULL,
        p.folded_name, p.folded_username, p.folded_bio
    FROM search_feed_state AS s
    LEFT JOIN (
        SELECT f.profile_id, f.created_at FROM search_feed AS f
        WHERE f.place >= $1 AND NOT pg_visible_in_snapshot(f.place::text::xid8, $2::pg_snapshot)
        ORDER BY f.place LIMIT $3) AS c ON TRUE
    LEFT JOIN profiles AS p ON p.id = c.profile_id AND p.searchable
    WHERE s.id = 1";
const LIST_ENTRIES: &str = "
    SELECT id, created_at, folded_name, folded_username, folded_bio FROM profiles
    WHERE id > $1 AND searchable ORDER BY id LIMIT $2";
const LIST_FOUND: &str = concat!(
    "SELECT ",
    profile_columns!(),
    " FROM unnest($1::uuid[]) WITH ORDINALITY AS wanted (id, number)
    JOIN profiles AS p ON p.id = wanted.id WHERE p.searchable ORDER BY wanted.number"
);
/// A database that was restored elsewhere begins with small numbers again.
const SET_PURGED: &str = "
    UPDATE search_feed_state SET
        purged = greatest(least(purged, now), now - $1,
            CASE WHEN marked_at <= $2 THEN least(marked_place, now) ELSE 0 END),
        marked_place = CASE WHEN marked_at <= $2 THEN now ELSE least(marked_place, now) END,
        marked_at = CASE WHEN marked_at <= $2 THEN $3 ELSE marked_at END
    FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS now) AS horizon
    WHERE id = 1 AND (marked_at <= $2 OR purged > now OR purged < now - $1)";
const DELETE_CHANGES: &str = "
    DELETE FROM search_feed WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM search_feed
        WHERE place < (SELECT purged FROM search_feed_state WHERE id = 1)
            OR place > pg_snapshot_xmax(pg_current_snapshot())::text::bigint
        LIMIT $1))";

#[async_trait]
impl SearchFeed for PostgresStore {
    async fn search_position(&self) -> StoreResult<FeedPosition> {
        let answer = self.ask(FIND_POSITION, Vec::new()).await?;
        let text = answer.find(|row| Cells::new(row, "search_feed").text("position").map(str::to_owned))?;
        Ok(FeedPosition(text.ok_or_else(|| driver(EngineFault::NoRow))?))
    }

    async fn list_search_entries(
        &self,
        after: Option<ProfileId>,
        limit: u32,
    ) -> StoreResult<Vec<SearchEntry>> {
        let after = Value::Id(Some(after.map_or(Uuid::nil(), |id| id.as_uuid())));
        let answer = self.ask(LIST_ENTRIES, values![after, limit]).await?;
        Ok(answer.list(|row| {
            let mut cells = Cells::new(row, "profiles");
            let (id, created_at) = (cells.id("id")?, cells.time("created_at")?);
            Ok(SearchEntry { id, created_at, text: read_text(&mut cells)? })
        })?)
    }

    async fn list_search_changes(&self, after: &FeedPosition) -> StoreResult<FeedRead> {
        let Some(oldest) = oldest_unseen(after) else { return Ok(FeedRead::Lost) };
        let answer = self.ask(LIST_CHANGES, values![oldest, after.0.as_str(), MOST]).await?;
        let rows = answer.list(read_change)?;
        let Some(first) = rows.first() else { return Err(driver(EngineFault::NoRow)) };
        let is_lost = first.purged > oldest || i64::try_from(rows.len()).is_ok_and(|count| count >= MOST);
        if is_lost {
            return Ok(FeedRead::Lost);
        }
        let position = FeedPosition(first.position.clone());
        let mut seen = HashSet::new();
        let changes = rows.into_iter().filter_map(|row| row.change);
        let changes = changes.filter(|change| seen.insert(id_of(change))).collect();
        Ok(FeedRead::Changes { changes, position, has_more: false })
    }

    async fn list_found_profiles(&self, ids: &[ProfileId]) -> StoreResult<Vec<Profile>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids = Value::Ids(ids.iter().map(|id| Some(id.as_uuid())).collect());
        let answer = self.ask(LIST_FOUND, values![ids]).await?;
        Ok(answer.list(|row| read_profile(&mut Cells::new(row, "profiles")))?)
    }
}

impl PostgresStore {
    /// Deletes changes that nobody needs any more, and those of a database that this one was restored from, a few at a
    /// time; answers how many.
    pub(crate) async fn purge_changes(&self, now: Timestamp) -> StoreResult<u64> {
        let mut writes = Script::default();
        writes.add(SET_PURGED, values![MOST_CHANGES_KEPT, now.minus(CHANGES_KEPT), now]);
        let deleted = writes.add(DELETE_CHANGES, values![PURGED_AT_ONCE]);
        Ok(self.write(&writes).await?.affected(deleted))
    }
}

/// The first part of a snapshot's text: transactions before it have all been seen.
fn oldest_unseen(position: &FeedPosition) -> Option<i64> {
    position.0.split(':').next()?.parse().ok()
}

struct ChangeRow {
    position: String,
    purged: i64,
    change: Option<SearchChange>,
}

fn read_change(row: &Row) -> Fallible<ChangeRow> {
    let mut cells = Cells::new(row, "search_feed");
    let position = cells.text("position")?.to_owned();
    let purged = cells.int("purged")?;
    let (id, created_at): (_, Option<Timestamp>) =
        (cells.maybe_id("profile_id")?, cells.maybe_time("created_at")?);
    let is_shown = cells.of("profiles").flag("id")?;
    let change = match (id, created_at) {
        (Some(id), Some(created_at)) if is_shown => {
            Some(SearchChange::Shown(SearchEntry { id, created_at, text: read_text(&mut cells)? }))
        }
        (Some(id), Some(created_at)) => Some(SearchChange::Hidden { id, created_at }),
        _ => None,
    };
    Ok(ChangeRow { position, purged, change })
}

fn read_text(cells: &mut Cells<'_>) -> Fallible<SearchText> {
    Ok(SearchText {
        name: cells.text("folded_name")?.to_owned(),
        username: cells.text("folded_username")?.to_owned(),
        bio: cells.text("folded_bio")?.to_owned(),
    })
}

const fn id_of(change: &SearchChange) -> ProfileId {
    match change {
        SearchChange::Shown(entry) => entry.id,
        SearchChange::Hidden { id, .. } => *id,
    }
}
