//! The search feed: a table of changes of profiles, from which every instance updates its search index in
//! memory. Triggers write the changes, each with its transaction id (`migrations/0012_search_feed.sql`). A
//! cursor (position of a reader) is a transaction snapshot. Every change that is invisible to the snapshot is
//! new, in whatever order transactions commit.

use async_trait::async_trait;
use latchkey_domain::ids::ProfileId;
use latchkey_domain::profile::Profile;
use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    FEED_LIMIT, FEED_PURGE_BATCHES, FEED_RETENTION, FeedPosition, FeedRead, PURGE_BATCH, SearchChange,
    SearchEntry, SearchFeed, StoreResult,
};
use latchkey_store_operations::form::Cells;
use latchkey_store_operations::{profile_columns, tables::profiles};
use uuid::Uuid;

use crate::errors::{EngineFault, driver};
use crate::script::Script;
use crate::store::Postgres;
use crate::values::{Value, values};

mod position;

use position::{Page, Position, Snapshot};

/// Maximum number of changes per read.
const BATCH: i64 = 4_096;
/// Minimum size of a row of the feed in bytes: 24 of header, 32 of values, 4 of line pointer.
const LEAST_BYTES: i64 = 60;

/// SQL expression that identifies the running server process and the feed's table. Snapshots are comparable
/// only if the expression has the same value: a promoted standby or a restored server may reuse transaction
/// ids. Restored tables have another `tableoid`.
macro_rules! lineage {
    () => {
        "(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint::text || '.' || s.tableoid::text"
    };
}

const FIND_POSITION: &str = concat!(
    "SELECT ",
    lineage!(),
    " || '/' || pg_current_snapshot()::text FROM search_feed_state AS s WHERE s.id = 1"
);
/// Query for the changes that are invisible to a cursor. In the table, `place` is the transaction id of a
/// change. The first branch finds the changes of transactions that began after the cursor, after
/// the transaction `$1` and the profile `$2`, up to `$4` of them. `$ended` adds a branch for others. Each branch scans its
/// own index range. Open transactions cost nothing, however long they last and however much they have written. Every row
/// also contains the current snapshot and the purge limit; without changes there is one row with only these. The LATERAL
/// subquery on `profiles` forces an index lookup per profile, whatever the planner estimates.
macro_rules! list_changes {
    ($ended:literal) => {
        concat!(
            "WITH target AS MATERIALIZED (SELECT coalesce($3::pg_snapshot, pg_current_snapshot()) AS snapshot),
    page AS MATERIALIZED (
        SELECT place, profile_id, created_at FROM (
            (SELECT f.place, f.profile_id, f.created_at FROM search_feed AS f
            WHERE (f.place, f.profile_id) > ($1, $2)
                AND f.place < (SELECT pg_snapshot_xmax(snapshot)::text::bigint FROM target)
                AND pg_visible_in_snapshot(f.place::text::xid8, (SELECT snapshot FROM target))
            ORDER BY f.place, f.profile_id LIMIT $4)",
            $ended,
            ") AS unseen
        ORDER BY place, profile_id LIMIT $4)
    SELECT ",
            lineage!(),
            ", pg_current_snapshot()::text, s.purged, c.places, c.place, c.profile_id, c.created_at, p.id IS NOT NULL,
        p.folded_name, p.folded_username, p.folded_bio
    FROM search_feed_state AS s
    LEFT JOIN (
        SELECT count(*) AS places, max(place) AS place, profile_id, created_at FROM page
        GROUP BY profile_id, created_at) AS c ON TRUE
    LEFT JOIN LATERAL (
        SELECT id, folded_name, folded_username, folded_bio FROM profiles
        WHERE id = c.profile_id AND searchable LIMIT 1) AS p ON TRUE
    WHERE s.id = 1"
        )
    };
}

const LIST_CHANGES: &str = list_changes!("");
/// Query [`LIST_CHANGES`] for a cursor at which transactions were open that have ended since: `$5` lists these
/// transactions, and `$6` the profile after which to continue in each. It takes the server longer to begin.
const LIST_CHANGES_OF_ENDED: &str = list_changes!(
    "
            UNION ALL
            (SELECT l.place, l.profile_id, l.created_at FROM unnest($5::bigint[], $6::uuid[]) AS ended (place, after)
            CROSS JOIN LATERAL (
                SELECT f.place, f.profile_id, f.created_at FROM search_feed AS f
                WHERE f.place = ended.place AND f.profile_id > ended.after
                ORDER BY f.profile_id LIMIT $4) AS l
            WHERE pg_visible_in_snapshot(ended.place::text::xid8, (SELECT snapshot FROM target)))"
);
const LIST_ENTRIES: &str = "
    SELECT id, created_at, folded_name, folded_username, folded_bio FROM profiles
    WHERE id > $1 AND searchable ORDER BY id LIMIT $2";
const LIST_FOUND: &str = concat!(
    "SELECT ",
    profile_columns!(),
    " FROM unnest($1::uuid[]) WITH ORDINALITY AS wanted (id, number)
    JOIN profiles AS p ON p.id = wanted.id WHERE p.searchable ORDER BY wanted.number"
);
/// Advances the transaction id below which changes are deleted: past changes that are too old, or too many.
/// In a database that was restored on another server, where transaction ids are small again, lowers it.
/// Changes are counted only if the size of the table shows that there can be too many.
const SET_PURGED: &str = "
    UPDATE search_feed_state SET
        purged = greatest(least(purged, now), least(too_many, now),
            CASE WHEN marked_at <= $3 THEN least(marked_place, now) ELSE 0 END),
        marked_place = CASE WHEN marked_at <= $3 THEN now ELSE least(marked_place, now) END,
        marked_at = CASE WHEN marked_at <= $3 THEN $4 ELSE marked_at END
    FROM (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS now,
        coalesce(CASE WHEN pg_relation_size('search_feed') > $1 * $2 THEN
            (SELECT place FROM search_feed ORDER BY place DESC OFFSET $1 LIMIT 1) END, 0) AS too_many) AS horizon
    WHERE id = 1 AND (marked_at <= $3 OR purged > now OR purged < least(too_many, now))";
const DELETE_CHANGES: &str = "
    DELETE FROM search_feed WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM search_feed WHERE place < (SELECT purged FROM search_feed_state WHERE id = 1)
        ORDER BY place LIMIT $1))";
/// Deletes changes whose transaction ids are greater than any that this server has assigned. They were
/// written by another server, before the database was restored on this one.
const DELETE_FOREIGN: &str = "
    DELETE FROM search_feed WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM search_feed WHERE place > pg_snapshot_xmax(pg_current_snapshot())::text::bigint
        ORDER BY place DESC LIMIT $1))";

#[async_trait]
impl SearchFeed for Postgres {
    async fn search_position(&self) -> StoreResult<FeedPosition> {
        let output = self.query(FIND_POSITION, Vec::new()).await?;
        let text = output.find(|cells| cells.of("search_feed").text("position").map(str::to_owned))?;
        Ok(FeedPosition(text.ok_or_else(|| driver(EngineFault::NoRow))?))
    }

    async fn list_search_entries(
        &self,
        after: Option<ProfileId>,
        limit: u32,
    ) -> StoreResult<Vec<SearchEntry>> {
        let after = Value::Id(Some(after.map_or(Uuid::nil(), |id| id.as_uuid())));
        let output = self.query(LIST_ENTRIES, values![after, limit]).await?;
        Ok(output.list(|cells| {
            let cells = cells.of("profiles");
            let (id, created_at) = (cells.id("id")?, cells.time("created_at")?);
            Ok(SearchEntry { id, created_at, text: read_text(cells)? })
        })?)
    }

    async fn list_search_changes(&self, after: &FeedPosition) -> StoreResult<FeedRead> {
        let Some(after) = Position::parse(after) else { return Ok(FeedRead::Lost) };
        let (place, id) = after.begins_after();
        let (places, ids): (Vec<_>, Vec<_>) = after.ended_after().unzip();
        let until = after.page.as_ref().map(|page| page.until.text());
        let mut values = values![place, Value::Id(Some(id)), until, BATCH];
        let sql = if places.is_empty() {
            LIST_CHANGES
        } else {
            values.extend([Value::Ints(places), Value::Ids(ids)]);
            LIST_CHANGES_OF_ENDED
        };
        let output = self.read_by_index(&Script::of(sql, values)).await?.take_first()?;
        let rows = output.list(read_change)?;
        let Some(first) = rows.first() else { return Err(driver(EngineFault::NoRow)) };
        let is_lost =
            first.lineage != after.lineage || first.purged > after.seen.oldest || first.now.end < after.end(); // the server has lost transactions
        if is_lost {
            return Ok(FeedRead::Lost);
        }
        let (position, has_more) = read_on(after, &rows, &first.now);
        let changes = rows.into_iter().filter_map(|row| row.change.map(|(_, change)| change)).collect();
        Ok(FeedRead::Changes { changes, position: position.write(), has_more })
    }

    async fn list_found_profiles(&self, ids: &[ProfileId]) -> StoreResult<Vec<Profile>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids = Value::Ids(ids.iter().map(|id| Some(id.as_uuid())).collect());
        let output = self.query(LIST_FOUND, values![ids]).await?;
        output.list(profiles::read_profile)
    }
}

impl Postgres {
    /// Deletes old changes, and changes with transaction ids of another server ([`DELETE_FOREIGN`]), in a
    /// limited number of batches per call.
    pub(crate) async fn purge_changes(&self, now: Timestamp) -> StoreResult<()> {
        let most = i64::from(FEED_LIMIT);
        self.execute(SET_PURGED, values![most, LEAST_BYTES, now.minus(FEED_RETENTION), now]).await?;
        for delete in [DELETE_CHANGES, DELETE_FOREIGN] {
            for _ in 0..FEED_PURGE_BATCHES {
                let deleted = self.execute(delete, values![PURGE_BATCH]).await?.affected;
                if deleted < u64::from(PURGE_BATCH) {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Returns the cursor after these changes, and whether more changes may be available. After the last of several pages
/// this is true, because transactions may have ended since the first page.
fn read_on(after: Position, rows: &[ChangeRow], now: &Snapshot) -> (Position, bool) {
    let read: i64 = rows.iter().map(|row| row.places).sum();
    let last = rows.iter().filter_map(|row| row.change.as_ref().map(|(place, _)| *place)).max();
    let Position { lineage, seen, page } = after;
    let was_paged = page.is_some();
    let until = page.map_or_else(|| now.clone(), |page| page.until);
    match last {
        Some(last) if read >= BATCH => (Position { lineage, seen, page: Some(Page { until, last }) }, true),
        _ => (Position { lineage, seen: until, page: None }, was_paged),
    }
}

struct ChangeRow {
    lineage: String,
    now: Snapshot,
    purged: i64,
    /// Number of rows that were read from the feed for this profile. These rows become one change.
    places: i64,
    /// Transaction id and profile id of the last of these feed rows, and the current state of the profile.
    /// `None` if there is no change to read.
    change: Option<((i64, Uuid), SearchChange)>,
}

fn read_change(cells: &mut Cells<'_>) -> StoreResult<ChangeRow> {
    cells.of("search_feed");
    let lineage = cells.text("lineage")?.to_owned();
    let now = Snapshot::parse(cells.text("position")?).ok_or_else(|| cells.corrupt("position"))?;
    let purged = cells.int("purged")?;
    let (places, place) = (cells.maybe_int("places")?.unwrap_or_default(), cells.maybe_int("place")?);
    let id: Option<ProfileId> = cells.maybe_id("profile_id")?;
    let created_at = cells.maybe_time("created_at")?;
    let is_shown = cells.of("profiles").flag("id")?;
    let change = match (place, id, created_at) {
        (Some(place), Some(id), Some(created_at)) => {
            let change = if is_shown {
                SearchChange::Shown(SearchEntry { id, created_at, text: read_text(cells)? })
            } else {
                SearchChange::Hidden { id, created_at }
            };
            Some(((place, id.as_uuid()), change))
        }
        _ => None,
    };
    Ok(ChangeRow { lineage, now, purged, places, change })
}

fn read_text(cells: &mut Cells<'_>) -> StoreResult<SearchText> {
    Ok(SearchText {
        name: cells.text("folded_name")?.to_owned(),
        username: cells.text("folded_username")?.to_owned(),
        bio: cells.text("folded_bio")?.to_owned(),
    })
}
