//! Cursor of the search feed: a transaction snapshot, and between the pages of a long read also the target
//! snapshot and the last change read. Text form: `lineage/seen` or `lineage/seen/until/place/profile`.

use latchkey_store::FeedPosition;
use uuid::Uuid;

/// A `pg_snapshot`: all transactions below `end` are visible, except those in `open`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// `xmin`: the oldest transaction that was open; all below it are visible.
    pub(super) oldest: i64,
    /// `xmax`: the first transaction id not yet assigned.
    pub(super) end: i64,
    /// Transactions in between that were still open.
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

    /// Text form, as PostgreSQL parses it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// State of a read that spans several pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    /// Target snapshot of the read: it stays fixed, so that pages neither shift nor skip transactions that end
    /// meanwhile.
    pub(super) until: Snapshot,
    /// Last change read.
    pub(super) last: (i64, Uuid),
}

/// A parsed cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    /// Server, its start time and its tables: snapshots are comparable only within one lineage.
    pub(super) lineage: String,
    /// Everything visible to this snapshot has been read.
    pub(super) seen: Snapshot,
    /// Progress within the rest.
    pub(super) page: Option<Page>,
}

impl Position {
    /// Parses a cursor; `None` if it is not one of this engine.
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

    /// Text form.
    pub(super) fn write(&self) -> FeedPosition {
        let start = format!("{}/{}", self.lineage, self.seen.text);
        FeedPosition(match &self.page {
            None => start,
            Some(Page { until, last: (place, id) }) => format!("{start}/{}/{place}/{id}", until.text),
        })
    }

    /// Keyset position among transactions that began after the snapshot: place and profile.
    pub(super) fn begins_after(&self) -> (i64, Uuid) {
        let start = (self.seen.end - 1, Uuid::max());
        self.page.as_ref().map_or(start, |page| page.last.max(start))
    }

    /// Keyset positions among transactions that were open: each place, and the profile after which to continue.
    pub(super) fn ended_after(&self) -> impl Iterator<Item = (Option<i64>, Option<Uuid>)> {
        let (last, id) = self.page.as_ref().map_or((0, Uuid::nil()), |page| page.last);
        let left = self.seen.open.iter().filter(move |place| **place >= last);
        left.map(move |place| (Some(*place), Some(if *place == last { id } else { Uuid::nil() })))
    }

    /// First transaction id unknown to every snapshot of this cursor.
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
