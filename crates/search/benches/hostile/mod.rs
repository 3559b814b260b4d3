//! Adversarial queries: the longest that are allowed, made of words with many postings. Each matches at least
//! one profile, so that no intersection is empty before the last word.

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::time::Duration;

use latchkey_domain::page::Page;
use latchkey_domain::search::SearchQuery;
use latchkey_search::Index;

use crate::processor_time;
use crate::town::{Numbers, bio_word, entry};

/// Number of profiles from whose texts the queries are built.
const VICTIMS: usize = 40;
/// Number of profiles in the sample from which those with the longest bios are taken.
const DRAWN: usize = 400;
const LONGEST: usize = SearchQuery::MAX_CHARS;
/// An offset beyond every total.
const BEYOND: u64 = 1 << 40;

/// Queries of each class for this index.
pub(crate) fn hostile(index: &Index, profiles: u64) -> Vec<(&'static str, Vec<String>, u64)> {
    let victims = victims(profiles);
    let of_all = |pieces: fn(&str) -> Vec<String>, dearest: &mut Dearest<'_>| -> Vec<String> {
        victims.iter().map(|text| dearest.query(pieces(text))).collect()
    };
    let mut dearest = Dearest { index, known: BTreeMap::new() };
    let three = of_all(|text| infixes(text, 3), &mut dearest);
    let four = of_all(|text| infixes(text, 4), &mut dearest);
    let five = of_all(|text| infixes(text, 5), &mut dearest);
    let one = of_all(|text| beginnings(text, 1), &mut dearest);
    let two = of_all(|text| beginnings(text, 2), &mut dearest);
    let mixed = of_all(|text| [infixes(text, 3), beginnings(text, 2)].concat(), &mut dearest);
    let some: Vec<String> =
        three.iter().map(|query| query.split(' ').take(4).collect::<Vec<_>>().join(" ")).collect();
    let infix = dearest.dearest(&[3, 4, 5], VICTIMS);
    let common: Vec<String> = (0..20).map(bio_word).filter(|word| word.len() > 2).collect();
    vec![
        ("25 trigrams of three letters", three, 0),
        ("4 trigrams of three letters", some, 0),
        ("20 infixes of four letters", four, 0),
        ("16 infixes of five letters", five, 0),
        ("all first letters", one, 0),
        ("33 beginnings of two letters", two, 0),
        ("trigrams and beginnings", mixed, 0),
        (
            "50 words of one letter",
            vec![repeated("a", 50), "a b c d e f g h i k l m n o p r s t v ".repeat(2)],
            0,
        ),
        ("300 letters after folding", vec!["ﬃ".repeat(LONGEST), "㌀".repeat(LONGEST)], 0),
        ("50 words of three after folding", vec![squared()], 0),
        ("dearest single infixes", infix, 0),
        ("offset beyond the end", common, BEYOND),
    ]
}

/// Texts of the profiles with the longest bios in a sample.
fn victims(profiles: u64) -> Vec<String> {
    let mut numbers = Numbers(7);
    let mut texts: Vec<_> = (0..DRAWN).map(|_| entry(numbers.below(profiles.max(1))).text).collect();
    texts.sort_by_key(|text| std::cmp::Reverse(text.bio.len()));
    let texts = texts.into_iter().take(VICTIMS);
    texts.map(|text| format!("{} {} {}", text.name, text.username, text.bio)).collect()
}

fn infixes(text: &str, length: usize) -> Vec<String> {
    let words = text.split(' ').filter(|word| word.len() >= length);
    words.flat_map(|word| (0..=word.len() - length).map(|at| word[at..at + length].to_owned())).collect()
}

fn beginnings(text: &str, length: usize) -> Vec<String> {
    text.split(' ').filter(|word| word.len() >= length).map(|word| word[..length].to_owned()).collect()
}

fn repeated(word: &str, times: usize) -> String {
    vec![word; times].join(" ")
}

/// Returns fifty characters such as `㎑`, each of which folding (normalisation for search) turns into a word
/// of three or more characters.
fn squared() -> String {
    let signs = ('㎀'..='㏟').filter(|sign| {
        SearchQuery::parse(&sign.to_string())
            .is_ok_and(|query| query.folded().chars().count() > 2 && !query.folded().contains(' '))
    });
    signs.take(50).map(|sign| sign.to_string()).collect::<Vec<_>>().join(" ")
}

/// The time that a search for each word alone takes, measured once per word.
struct Dearest<'a> {
    index: &'a Index,
    known: BTreeMap<String, Duration>,
}

impl Dearest<'_> {
    /// Makes a query of the costliest of these words, as many as the maximum length of a query allows.
    fn query(&mut self, pieces: Vec<String>) -> String {
        let pieces: BTreeSet<String> = pieces.into_iter().collect();
        let mut by_cost: Vec<_> = pieces.into_iter().map(|piece| (self.cost(&piece), piece)).collect();
        by_cost.sort_by(|a, b| b.cmp(a));
        let mut query = Vec::new();
        let mut room = LONGEST;
        for (_, piece) in by_cost {
            if piece.len() <= room {
                room = room.saturating_sub(piece.len() + 1);
                query.push(piece);
            }
        }
        query.join(" ")
    }

    /// Returns the costliest of all measured words with these lengths.
    fn dearest(&self, lengths: &[usize], count: usize) -> Vec<String> {
        let mut by_cost: Vec<_> =
            self.known.iter().filter(|(piece, _)| lengths.contains(&piece.len())).collect();
        by_cost.sort_by(|a, b| b.1.cmp(a.1));
        by_cost.into_iter().take(count).map(|(piece, _)| piece.clone()).collect()
    }

    fn cost(&mut self, piece: &str) -> Duration {
        if let Some(&cost) = self.known.get(piece) {
            return cost;
        }
        let query = SearchQuery::parse(piece).unwrap();
        let times = (0..3).map(|_| {
            let begun = processor_time();
            black_box(self.index.search(&query, Page::default()));
            processor_time().saturating_sub(begun)
        });
        let cost = times.min().unwrap_or_default();
        self.known.insert(piece.to_owned(), cost);
        cost
    }
}
