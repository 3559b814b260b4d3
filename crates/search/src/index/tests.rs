//! Concurrency of changes and merges. A merge is suspended by choosing its segments without going on.
#![allow(clippy::unwrap_used)]

use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;

use super::*;

fn show(number: u16, word: &str) -> Change {
    let created_at = Timestamp::from_millis(i64::from(number));
    let key = Key { created_at, id: ProfileId::new(created_at, [7; 10]) };
    Change::Upsert(Entry { key, text: SearchText::of(&format!("{word} p{number}"), None, None) })
}

fn total(index: &Index, word: &str) -> u64 {
    index.search(&SearchQuery::parse(word).unwrap(), Page::default()).total
}

#[test]
fn the_memtable_stays_small_during_a_merge() {
    let index = Index::default();
    index.apply((0..400).map(|number| show(number, "old")));
    let held = index.choose().unwrap();

    for number in 0..5_000 {
        index.apply([show(number % 1_000, "new")]);
        assert!(index.snapshot.load().memtable.len() <= MEMTABLE_LIMIT);
    }
    index.apply((0..1_000).map(|number| show(number, "newer")));
    assert!(index.snapshot.load().memtable.len() <= MEMTABLE_LIMIT);
    while index.merge_step() {}

    let segments = index.snapshot.load().segments.len();
    assert!(segments < 2 * held.segments.len() + 12, "{segments} segments");
    assert_eq!((total(&index, "old"), total(&index, "new"), total(&index, "newer")), (0, 1_000, 1_000));
    drop(held);
    while index.merge_step() {}
    assert_eq!((total(&index, "old"), total(&index, "newer")), (0, 1_000));
}

#[test]
fn concurrent_merges_choose_disjoint_segments() {
    let index = Index::default();
    index.apply((0..400).map(|number| show(number, "old")));
    let first = index.choose().unwrap();
    let others: Vec<_> = std::iter::from_fn(|| index.choose()).collect();
    let is_shared =
        |one: &Masked| first.segments.iter().any(|segment| Arc::ptr_eq(&segment.segment, &one.segment));
    assert!(!others.iter().flat_map(|other| &other.segments).any(is_shared));
}

#[test]
fn a_replaced_segment_is_freed_by_the_merging_thread() {
    let index = Index::default();
    index.apply((0..400).map(|number| show(number, "old")));
    let searched = index.snapshot.load_full();
    let segment = Arc::downgrade(&searched.segments[0].segment);
    while index.merge_step() {}
    assert!(segment.upgrade().is_some() && index.needs_merging());

    drop(searched);
    assert!(segment.upgrade().is_some(), "not freed by the search");
    index.merge_step();
    assert!(segment.upgrade().is_none() && !index.needs_merging());
}
