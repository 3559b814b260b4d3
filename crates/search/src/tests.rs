//! Model test of the index against its definition, a scan by [`matches`]: generated profiles and queries in
//! many scripts, with concurrent inserts, edits, deletions, flushes and merges.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::cmp::Reverse;
use std::collections::BTreeMap;

use latchkey_domain::ids::ProfileId;
use latchkey_domain::page::Page;
use latchkey_domain::search::{SearchQuery, SearchText, matches};
use latchkey_domain::time::Timestamp;
use proptest::prelude::*;

use crate::{Change, Entry, Index, Key, Loader};

/// Building blocks of words: few, so that they collide, and of every kind that folding or an index may
/// mishandle.
const PIECES: &[&str] = &[
    "a",
    "b",
    "ab",
    "ba",
    "aba",
    "ann",
    "anna",
    "user",
    "user1",
    "ß",
    "ss",
    "ﬁ",
    "fi",
    "İ",
    "i",
    "Σ",
    "σ",
    "ж",
    "Ё",
    "計",
    "算",
    "機",
    "計算機",
    "한",
    "ｶﾞ",
    "का",
    "🙂",
    "👩\u{200D}💻",
    "𝔞",
    "\u{301}",
    "%",
    "_",
    "*",
    "\"",
    "-",
    "0",
    "12",
    "ﷺ",
    ".",
];

fn text(words: usize, pieces: usize) -> impl Strategy<Value = String> {
    let word =
        prop::collection::vec(prop::sample::select(PIECES), 1..=pieces).prop_map(|pieces| pieces.concat());
    prop::collection::vec(word, 0..=words).prop_map(|words| words.join(" "))
}

fn searched() -> impl Strategy<Value = SearchText> {
    (text(2, 3), prop::option::of("[a-b_.]{1,3}[0-9]{0,2}"), text(5, 4))
        .prop_map(|(name, username, bio)| SearchText::of(&name, username.as_deref(), Some(&bio)))
}

/// Profiles share their timestamps, and the order of ids differs from that of creation.
fn key(number: u8) -> Key {
    let created_at = Timestamp::from_millis(i64::from(number / 3));
    Key { created_at, id: ProfileId::new(Timestamp::default(), [number.wrapping_mul(101); 10]) }
}

#[derive(Debug, Clone)]
enum Step {
    Upsert(Vec<(u8, SearchText)>),
    Remove(u8),
    Merge,
    Search(Query, u32, u64),
}

#[derive(Debug, Clone)]
enum Query {
    Text(String),
    /// Substrings of one indexed profile's text as words: number of the profile, start and length of each
    /// substring.
    Parts(u8, Vec<(usize, usize)>),
}

fn query() -> impl Strategy<Value = Query> {
    let segment = (0..80_usize, 1..12_usize);
    let short_part = (0..80_usize, 1..5_usize);
    prop_oneof![
        2 => text(2, 2).prop_map(Query::Text),
        1 => text(30, 2).prop_map(Query::Text),
        2 => (any::<u8>(), segment).prop_map(|(which, segment)| Query::Parts(which, vec![segment])),
        2 => (any::<u8>(), prop::collection::vec(short_part, 2..30))
            .prop_map(|(which, segments)| Query::Parts(which, segments)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => prop::collection::vec((0..150_u8, searched()), 1..6).prop_map(Step::Upsert),
        1 => (0..150_u8).prop_map(Step::Remove),
        1 => Just(Step::Merge),
        5 => (query(), 1..8_u32, 0..20_u64).prop_map(|(query, limit, offset)| Step::Search(query, limit, offset)),
    ]
}

type Model = BTreeMap<Key, SearchText>;

fn expected(model: &Model, query: &SearchQuery) -> Vec<ProfileId> {
    let mut hits: Vec<_> =
        model.iter().filter_map(|(key, text)| Some((matches(query, text)?, Reverse(*key)))).collect();
    hits.sort_unstable();
    hits.into_iter().map(|(_, Reverse(key))| key.id).collect()
}

fn check(index: &Index, model: &Model, query: &SearchQuery, limit: u32, offset: u64) {
    let expected = expected(model, query);
    let hits = index.search(query, Page::new(limit, offset));
    assert_eq!(hits.total, expected.len() as u64, "{:?}", query.folded());
    let page: Vec<_> =
        expected.into_iter().skip(usize::try_from(offset).unwrap()).take(limit as usize).collect();
    assert_eq!(hits.ids, page, "{:?}", query.folded());
}

/// Text of the query, cut to the allowed length.
fn spelled(model: &Model, query: Query) -> String {
    let text = match query {
        Query::Text(text) => text,
        Query::Parts(which, segments) => {
            let Some(text) = model.values().nth(usize::from(which) % model.len().max(1)) else {
                return "a".to_owned();
            };
            let whole = format!("{} {} {}", text.name, text.username, text.bio);
            let chars = whole.chars().count();
            let words = segments
                .into_iter()
                .map(|(start, length)| whole.chars().skip(start % chars).take(length).collect::<String>());
            words.collect::<Vec<_>>().join(" ")
        }
    };
    text.chars().take(SearchQuery::MAX_CHARS).collect()
}

fn walk(index: &Index, model: &mut Model, steps: Vec<Step>) {
    for step in steps {
        match step {
            Step::Upsert(profiles) => {
                let entries = profiles
                    .into_iter()
                    .map(|(number, text)| Entry { key: key(number), text })
                    .collect::<Vec<_>>();
                model.extend(entries.iter().map(|entry| (entry.key, entry.text.clone())));
                index.apply(entries.into_iter().map(Change::Upsert));
            }
            Step::Remove(number) => {
                model.remove(&key(number));
                index.apply([Change::Remove(key(number))]);
            }
            Step::Merge => drop(index.merge_step()),
            Step::Search(text, limit, offset) => {
                if let Ok(query) = SearchQuery::parse(&spelled(model, text)) {
                    check(index, model, &query, limit, offset);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn an_index_that_grows_agrees_with_the_definition(steps in prop::collection::vec(step(), 1..120)) {
        walk(&Index::default(), &mut Model::new(), steps);
    }

    #[test]
    fn a_loaded_index_agrees_with_the_definition(
        profiles in prop::collection::btree_map(0..150_u8, searched(), 0..100),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut model: Model = profiles.iter().map(|(number, text)| (key(*number), text.clone())).collect();
        let mut loader = Loader::new();
        for (number, text) in profiles.into_iter().rev() {
            loader.push(Entry { key: key(number), text });
        }
        walk(&loader.finish(), &mut model, steps);
    }
}

#[test]
fn pages_of_every_size_follow_each_other_without_gap() {
    let index = Index::default();
    let mut model = Model::new();
    for number in 0..200 {
        let name = ["Ann", "Anna Lee", "Bo Ann", "Joanna"][usize::from(number) % 4];
        let text = SearchText::of(name, None, Some(&format!("bio {number}")));
        model.insert(key(number), text.clone());
        index.apply([Change::Upsert(Entry { key: key(number), text })]);
        while number % 13 == 0 && index.merge_step() {}
    }
    let query = SearchQuery::parse("ann").unwrap();
    for limit in [1, 3, 7, 50, 100] {
        for offset in 0..=201 {
            check(&index, &model, &query, limit, offset);
        }
    }
}

#[test]
fn changes_during_a_merge_are_not_lost() {
    let index = Index::default();
    let text = |word: &str| SearchText::of(word, None, None);
    let show = |number: u8, word: &str| Change::Upsert(Entry { key: key(number), text: text(word) });
    index.apply((0..100).map(|number| show(number, "old")));
    std::thread::scope(|scope| {
        let merger = scope.spawn(|| {
            for _ in 0..2_000 {
                index.merge_step();
            }
        });
        for round in 0..200 {
            index.apply((0..100).map(|number| show(number, if number % 2 == 0 { "new" } else { "odd" })));
            index.apply(
                (0..100).filter(|number| number % 10 == round % 10).map(|number| Change::Remove(key(number))),
            );
            let total = |word| index.search(&SearchQuery::parse(word).unwrap(), Page::default()).total;
            assert_eq!((total("old"), total("new") + total("odd")), (0, 90));
        }
        merger.join().unwrap();
    });
}
