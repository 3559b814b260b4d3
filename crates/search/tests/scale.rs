//! The index with the production thresholds against its definition: twenty thousand profiles, enough for
//! precomputed sets and bitmaps, with concurrent changes and merges.
#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small numbers"
)]

#[path = "../benches/town/mod.rs"]
#[allow(dead_code, reason = "the benches need more of it")]
mod town;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use latchkey_domain::page::Page;
use latchkey_domain::search::{SearchQuery, SearchText, matches};
use latchkey_search::{Change, Entry, Index, Key, Loader};

use town::{Numbers, bio_word};

const PROFILES: u64 = 20_000;
const EDITS: u64 = 10_000;

type Model = BTreeMap<Key, SearchText>;

/// A generated profile. All usernames share a prefix, and some bios are adversarial.
fn entry(number: u64) -> Entry {
    let mut entry = town::entry(number);
    entry.text.username = format!("member{number}");
    if number.is_multiple_of(50) {
        entry.text.bio = format!("{}{number}", "a".repeat(200));
    }
    entry
}

fn check(index: &Index, model: &Model, query: &str) {
    let query = SearchQuery::parse(query).unwrap();
    let mut expected: Vec<_> =
        model.iter().filter_map(|(key, text)| Some((matches(&query, text)?, Reverse(*key)))).collect();
    expected.sort_unstable();
    let total = expected.len();
    for offset in [0, total / 2, total.saturating_sub(7)] {
        let hits = index.search(&query, Page::new(20, offset as u64));
        let page: Vec<_> = expected.iter().skip(offset).take(20).map(|(_, Reverse(key))| key.id).collect();
        assert_eq!((hits.total, hits.ids), (total as u64, page), "{:?} from {offset}", query.folded());
    }
}

fn check_all(index: &Index, model: &Model) {
    let mut queries: Vec<String> = [0, 1, 7, 40, 300, 2_000, 30_000].map(bio_word).to_vec();
    let fixed = ["member", "member1", "ember19", "mem an", "aaa", "aaaaaaaa", "a", "an", "xyz", "edited"];
    queries.extend(fixed.map(str::to_owned));
    queries.push(format!("{} {}", bio_word(1), bio_word(12)));
    queries.push(town::entry(77).text.name);
    queries.extend((0..40).map(many_words));
    for query in &queries {
        check(index, model, query);
    }
}

/// A query of maximal length from substrings of one profile's words: it matches all, others match some.
fn many_words(number: u64) -> String {
    let mut numbers = Numbers(number);
    let text = town::entry(numbers.below(PROFILES)).text;
    let pieces = text.bio.split(' ').chain(text.name.split(' ')).map(|word| {
        let length = usize::try_from(1 + numbers.below(5)).unwrap().min(word.len());
        let most = if length < 3 { 0 } else { word.len() - length };
        let start = usize::try_from(numbers.below(most as u64 + 1)).unwrap();
        &word[start..start + length]
    });
    let query = pieces.collect::<Vec<_>>().join(" ");
    query.chars().take(SearchQuery::MAX_CHARS).collect()
}

#[test]
fn twenty_thousand_profiles_that_change_agree_with_the_definition() {
    let mut model: Model = (0..PROFILES).map(entry).map(|entry| (entry.key, entry.text)).collect();
    let mut loader = Loader::new();
    for (key, text) in &model {
        loader.push(Entry { key: *key, text: text.clone() });
    }
    let index = loader.finish();
    check_all(&index, &model);

    std::thread::scope(|scope| {
        let edits = scope.spawn(|| edit(&index, &mut model));
        while !edits.is_finished() {
            index.merge_step();
        }
    });
    check_all(&index, &model);
    while index.merge_step() {}
    assert!(!index.needs_merging());
    for query in ["member", "aaaa", "edited"] {
        check(&index, &model, query);
    }
}

/// Edits, deletions and inserts, singly and in batches.
fn edit(index: &Index, model: &mut Model) {
    let mut numbers = Numbers(11);
    let mut changes = Vec::new();
    for edit in 0..EDITS {
        let mut entry = entry(numbers.below(PROFILES + PROFILES / 10));
        if numbers.below(10) == 0 {
            model.remove(&entry.key);
            changes.push(Change::Remove(entry.key));
        } else {
            entry.text.bio.push_str(" edited");
            model.insert(entry.key, entry.text.clone());
            changes.push(Change::Upsert(entry));
        }
        if numbers.below(100) == 0 || edit % 1_000 > 900 {
            index.apply(changes.drain(..));
        }
    }
    index.apply(changes);
}
