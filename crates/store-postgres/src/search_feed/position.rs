//! How far somebody has read the changes: a snapshot, and amid many changes the snapshot up to which is read and the
//! last change of the page. As text: `lineage/seen` or `lineage/seen/until/place/profile`.

use latchkey_store::FeedPosition;
use uuid::Uuid;

/// What a transaction saw of the others: all before `end`, but for those that were `open`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// The number of the oldest that was open: all before it were seen.
    pub(super) oldest: i64,
    /// The first number that was not given away yet.
    pub(super) end: i64,
    /// Those in between that were not over yet.
    pub(super) open: Vec<i64>,
    text: String,
}

impl Snapshot {
    /// Reads the text of a `pg_snapshot`: `xmin:xmax:` and the open ones with commas between.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let (oldest, end) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let open = parts.next()?.split(',').filter(|number| !number.is_empty());
        let open = open.map(|number| number.parse().ok()).collect::<Option<_>>()?;
        parts.next().is_none().then(|| Self { oldest, end, open, text: text.to_owned() })
    }

    /// The text that PostgreSQL reads.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// A page that was read of changes that did not fit into one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    /// What this snapshot sees is read, so that pages neither shift nor leave out what ends meanwhile.
    pub(super) until: Snapshot,
    /// The last change that was read.
    pub(super) last: (i64, Uuid),
}

/// A position, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    /// Which server, since which start of it, and which tables: snapshots are comparable within one alone.
    pub(super) lineage: String,
    /// All that this one sees is read.
    pub(super) seen: Snapshot,
    /// What is read of the rest.
    pub(super) page: Option<Page>,
}

impl Position {
    /// `None` for what is no position of this engine.
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

    /// The text that goes out.
    pub(super) fn write(&self) -> FeedPosition {
        let start = format!("{}/{}", self.lineage, self.seen.text);
        FeedPosition(match &self.page {
            None => start,
            Some(Page { until, last: (place, id) }) => format!("{start}/{}/{place}/{id}", until.text),
        })
    }

    /// Where the transactions that began after the snapshot are read on: behind this place and profile.
    pub(super) fn begins_after(&self) -> (i64, Uuid) {
        let start = (self.seen.end - 1, Uuid::max());
        self.page.as_ref().map_or(start, |page| page.last.max(start))
    }

    /// Where those that were open are read on: each place, and behind which profile.
    pub(super) fn ended_after(&self) -> impl Iterator<Item = (Option<i64>, Option<Uuid>)> {
        let (last, id) = self.page.as_ref().map_or((0, Uuid::nil()), |page| page.last);
        let left = self.seen.open.iter().filter(move |place| **place >= last);
        left.map(move |place| (Some(*place), Some(if *place == last { id } else { Uuid::nil() })))
    }

    /// The first number that no snapshot of this position knew.
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
