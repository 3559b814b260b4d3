//! What happens beside the merging of parts: a merge is held by choosing its parts and not going on.
#![allow(clippy::unwrap_used)]

use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;

use super::*;

fn show(number: u16, word: &str) -> Change {
    let created_at = Timestamp::from_millis(i64::from(number));
    let key = Key { created_at, id: ProfileId::new(created_at, [7; 10]) };
    Change::Show(Entry { key, text: SearchText::of(&format!("{word} p{number}"), None, None) })
}

fn total(index: &Index, word: &str) -> u64 {
    index.search(&SearchQuery::parse(word).unwrap(), Page::default()).total
}

#[test]
fn changes_beside_a_merge_do_not_pile_up() {
    let index = Index::default();
    index.apply((0..400).map(|number| show(number, "old")));
    let held = index.choose().unwrap();

    for number in 0..5_000 {
        index.apply([show(number % 1_000, "new")]);
        assert!(index.view.load().fresh.len() <= TOO_MANY_FRESH);
    }
    index.apply((0..1_000).map(|number| show(number, "newer")));
    assert!(index.view.load().fresh.len() <= TOO_MANY_FRESH);
    while index.tidy() {}

    let parts = index.view.load().parts.len();
    assert!(parts < 2 * held.parts.len() + 12, "{parts} parts");
    assert_eq!((total(&index, "old"), total(&index, "new"), total(&index, "newer")), (0, 1_000, 1_000));
    drop(held);
    while index.tidy() {}
    assert_eq!((total(&index, "old"), total(&index, "newer")), (0, 1_000));
}

#[test]
fn two_that_tidy_never_merge_the_same_parts() {
    let index = Index::default();
    index.apply((0..400).map(|number| show(number, "old")));
    let first = index.choose().unwrap();
    let others: Vec<_> = std::iter::from_fn(|| index.choose()).collect();
    let is_shared = |one: &Masked| first.parts.iter().any(|part| Arc::ptr_eq(&part.part, &one.part));
    assert!(!others.iter().flat_map(|other| &other.parts).any(is_shared));
}

#[test]
fn a_replaced_part_is_freed_by_whoever_tidies() {
    let index = Index::default();
    index.apply((0..400).map(|number| show(number, "old")));
    let searched = index.view.load_full();
    let part = Arc::downgrade(&searched.parts[0].part);
    while index.tidy() {}
    assert!(part.upgrade().is_some() && index.wants_tidying());

    drop(searched);
    assert!(part.upgrade().is_some(), "not freed by the search");
    index.tidy();
    assert!(part.upgrade().is_none() && !index.wants_tidying());
}
