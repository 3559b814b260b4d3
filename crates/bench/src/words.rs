//! Vocabulary of seeded profiles. Words are made of syllables, and the word of rank r has a frequency proportional to
//! 1/r (Zipf's law).

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Number of different words in bios.
pub(crate) const VOCABULARY: usize = 60_000;
const FIRST_NAMES: usize = 2_000;
const LAST_NAMES: usize = 30_000;
const SYLLABLES: &[&str] = &[
    "ba", "be", "bor", "ca", "cel", "da", "den", "do", "el", "en", "fa", "fi", "ga", "gro", "ha", "hel",
    "ia", "in", "ja", "jo", "ka", "ki", "la", "len", "lo", "ma", "mi", "mon", "na", "ne", "nor", "o", "or",
    "pa", "pe", "qua", "ra", "ri", "ros", "sa", "sen", "so", "ta", "ti", "tor", "u", "ul", "va", "vi", "wen",
    "xa", "ya", "yl", "za", "zo",
];

/// Vocabulary, the most frequent word first.
pub(crate) struct Words {
    bio: Vec<String>,
    first: Vec<String>,
    last: Vec<String>,
}

impl Words {
    /// Makes the vocabulary, which is the same at every run.
    pub(crate) fn new() -> Self {
        let mut rng = StdRng::seed_from_u64(1);
        Self {
            bio: distinct(&mut rng, VOCABULARY),
            first: distinct(&mut rng, FIRST_NAMES),
            last: distinct(&mut rng, LAST_NAMES),
        }
    }

    /// Word of a rank; 0 is the most frequent.
    pub(crate) fn of_rank(&self, rank: usize) -> &str {
        &self.bio[rank % self.bio.len()]
    }

    /// First name in small letters, one of many.
    pub(crate) fn first_name(&self, number: u64) -> &str {
        one_of(&self.first, number)
    }

    /// Last name in small letters, one of many.
    pub(crate) fn last_name(&self, number: u64) -> &str {
        one_of(&self.last, number)
    }

    /// Random name, and random bio of 5 to 25 words.
    pub(crate) fn of_person(&self, rng: &mut StdRng) -> (String, String) {
        let first = &self.first[rng.random_range(0..FIRST_NAMES)];
        let last = &self.last[rng.random_range(0..LAST_NAMES)];
        let words: Vec<&str> = (0..rng.random_range(5..=25)).map(|_| self.of_rank(zipf(rng))).collect();
        (format!("{} {}", capital(first), capital(last)), words.join(" "))
    }
}

fn one_of(names: &[String], number: u64) -> &str {
    &names[usize::try_from(number).unwrap_or_default() % names.len()]
}

/// Random rank by Zipf's law, from the inverse of the approximate distribution function.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "small numbers"
)]
fn zipf(rng: &mut StdRng) -> usize {
    let exponent = rng.random_range(0.0..1.0);
    ((VOCABULARY as f64).powf(exponent) as usize).saturating_sub(1)
}

fn distinct(rng: &mut StdRng, count: usize) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let mut words = Vec::with_capacity(count);
    while words.len() < count {
        let syllables = rng.random_range(2..=4);
        let word: String = (0..syllables).map(|_| SYLLABLES[rng.random_range(0..SYLLABLES.len())]).collect();
        if seen.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
