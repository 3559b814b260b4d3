//! Cursor of the search feed: a transaction snapshot. A read of many changes takes several pages. Between
//! them the cursor also contains the snapshot up to which the read goes, and the transaction and profile of
//! the last change read. The text form of a cursor is `lineage/seen` or `lineage/seen/until/place/profile`,
//! where `place` is the transaction id.

use latchkey_store::FeedPosition;
use uuid::Uuid;

/// A transaction snapshot (`pg_snapshot`): all transactions below `end` are visible, except those in `open`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// The oldest transaction that was open (`xmin`). All transactions below it are visible.
    pub(super) oldest: i64,
    /// The first transaction id that was not yet assigned (`xmax`).
    pub(super) end: i64,
    /// Transactions from `oldest` to `end` that were still open.
    pub(super) open: Vec<i64>,
    text: String,
}

impl Snapshot {
    /// Parses the text of a `pg_snapshot`: `xmin:xmax:` and the open transactions, comma-separated.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let (oldest, end) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let open = parts.next()?.split(',').filter(|number| !number.is_empty());
        let open = open.map(|number| number.parse().ok()).collect::<Option<_>>()?;
        parts.next().is_none().then(|| Self { oldest, end, open, text: text.to_owned() })
    }

    /// Returns the text form that PostgreSQL parses.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// State of a read of the feed that spans several pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    /// Snapshot up to which the read goes. It is the same for all pages, so that no page repeats or skips transactions
    /// that end meanwhile.
    pub(super) until: Snapshot,
    /// Transaction id and profile id of the last change read.
    pub(super) last: (i64, Uuid),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    /// Identity of the server, its start time and the feed's table. Snapshots are comparable only within one lineage.
    pub(super) lineage: String,
    /// Snapshot whose visible changes have all been read.
    pub(super) seen: Snapshot,
    /// Progress of a read in several pages, if one is under way.
    pub(super) page: Option<Page>,
}

impl Position {
    /// Parses the text form of a cursor. Returns `None` if it is not a cursor of this engine.
    pub(super) fn parse(position: &FeedPosition) -> Option<Self> {
        let parts: Vec<&str> = position.0.split('/').collect();
        let (lineage, seen, page) = match parts[..] {
            [lineage, seen] => (lineage, seen, None),
            [lineage, seen, until, place, id] => {
                let last = (place.parse().ok()?, id.parse().ok()?);
                (lineage, seen, Some(Page { until: Snapshot::parse(until)?, last }))
            }
            _ => return None,
        };
        Some(Self { lineage: lineage.to_owned(), seen: Snapshot::parse(seen)?, page })
    }

    pub(super) fn write(&self) -> FeedPosition {
        let start = format!("{}/{}", self.lineage, self.seen.text);
        FeedPosition(match &self.page {
            None => start,
            Some(Page { until, last: (place, id) }) => format!("{start}/{}/{place}/{id}", until.text),
        })
    }

    /// Returns the transaction id and profile id after which to continue, among transactions that began after
    /// the snapshot.
    pub(super) fn begins_after(&self) -> (i64, Uuid) {
        let start = (self.seen.end - 1, Uuid::max());
        self.page.as_ref().map_or(start, |page| page.last.max(start))
    }

    /// Returns the transactions that were open in the snapshot and are not read yet, each with the profile after which
    /// to continue.
    pub(super) fn ended_after(&self) -> impl Iterator<Item = (Option<i64>, Option<Uuid>)> {
        let (last, id) = self.page.as_ref().map_or((0, Uuid::nil()), |page| page.last);
        let left = self.seen.open.iter().filter(move |place| **place >= last);
        left.map(move |place| (Some(*place), Some(if *place == last { id } else { Uuid::nil() })))
    }

    /// Returns the first transaction id that is newer than every snapshot of this cursor.
    pub(super) fn end(&self) -> i64 {
        self.page.as_ref().map_or(self.seen.end, |page| page.until.end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn snapshot() -> impl Strategy<Value = Snapshot> {
        (3_i64..1_000, 0_i64..1_000, proptest::collection::vec(3_i64..1_000, 0..4)).prop_map(
            |(oldest, more, open)| {
                let listed: Vec<String> = open.iter().map(ToString::to_string).collect();
                Snapshot::parse(&format!("{oldest}:{}:{}", oldest + more, listed.join(","))).unwrap()
            },
        )
    }

    proptest! {
        #[test]
        fn position_is_read_as_it_was_written(
            seen in snapshot(),
            page in proptest::option::of((snapshot(), 3_i64..1_000, any::<u128>())),
        ) {
            let page = page.map(|(until, place, id)| Page { until, last: (place, Uuid::from_u128(id)) });
            let position = Position { lineage: "1.2".to_owned(), seen, page };
            prop_assert_eq!(Position::parse(&position.write()), Some(position));
        }

        #[test]
        fn any_position_is_read_on(position in "[0-9]{1,3}:[0-9]{1,3}:([0-9]{1,3})?") {
            let position = Position::parse(&FeedPosition(format!("1.2/{position}"))).unwrap();
            prop_assert_eq!(position.begins_after().0 + 1, position.seen.end);
            prop_assert_eq!(position.ended_after().count(), position.seen.open.len());
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9:,/a.-]{0,30}") {
            let _ = Position::parse(&FeedPosition(text));
        }
    }
}
