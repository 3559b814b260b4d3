//! Generated profiles: first and last names, unique usernames, bios with Zipf-distributed words.

use latchkey_domain::ids::ProfileId;
use latchkey_domain::search::SearchText;
use latchkey_domain::time::Timestamp;
use latchkey_search::{Entry, Key, Loader};

const FIRST_NAMES: u64 = 2_000;
const LAST_NAMES: u64 = 30_000;
const WORDS: f64 = 60_000.0;

/// Deterministic random numbers (splitmix64).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }

    /// Frequency rank of a word, by Zipf's law.
    fn zipf(&mut self) -> u64 {
        let unit = (self.draw() >> 11) as f64 / (1_u64 << 53) as f64;
        (WORDS.powf(unit) - 1.0) as u64
    }
}

/// Makes the word with this number: two to six syllables, the same at every run.
pub(crate) fn word(kind: u64, number: u64) -> String {
    const SYLLABLES: [&str; 40] = [
        "a", "an", "ar", "ba", "be", "ca", "co", "da", "de", "di", "el", "en", "er", "fa", "ga", "ha", "in",
        "is", "ka", "la", "le", "li", "lo", "ma", "mi", "na", "ne", "ni", "on", "or", "pa", "ra", "re", "ri",
        "sa", "se", "son", "ta", "ti", "vi",
    ];
    let mut numbers = Numbers(kind.wrapping_mul(0xA5A5_5A5A).wrapping_add(number.wrapping_mul(7_919)));
    // Frequent words are short.
    let syllables = 2 + u64::from(number.ilog10().min(3)) + if number == 0 { 0 } else { numbers.below(2) };
    (0..syllables).map(|_| SYLLABLES[usize::try_from(numbers.below(40)).unwrap()]).collect()
}

pub(crate) fn bio_word(number: u64) -> String {
    word(3, number + 1)
}

/// Makes the profile with this number, the same at every run.
pub(crate) fn entry(number: u64) -> Entry {
    let mut numbers = Numbers(number.wrapping_mul(0x2545_F491_4F6C_DD1D));
    let first = word(1, 1 + numbers.below(FIRST_NAMES));
    let last = word(2, 1 + numbers.below(LAST_NAMES));
    let count = 5 + numbers.below(21);
    let bio: Vec<String> = (0..count).map(|_| bio_word(numbers.zipf())).collect();
    let text = SearchText {
        username: format!("{first}.{number}"),
        name: format!("{first} {last}"),
        bio: bio.join(" "),
    };
    let created_at = Timestamp::from_millis(1_700_000_000_000 + i64::try_from(number).unwrap());
    let key = Key { created_at, id: ProfileId::new(created_at, [7; 10]) };
    Entry { key, text }
}

pub(crate) fn loaded(profiles: u64) -> Loader {
    let mut loader = Loader::new();
    for number in 0..profiles {
        loader.push(entry(number));
    }
    loader
}

/// Returns the classes of queries, each with its name, its queries, and the offset of the requested page.
pub(crate) fn classes() -> Vec<(&'static str, Vec<String>, u64)> {
    let words = |numbers: std::ops::Range<u64>, step: usize| {
        numbers.step_by(step).map(bio_word).filter(|word| word.len() > 2).collect::<Vec<_>>()
    };
    let cut = |from: &[String], start: usize, length: usize| -> Vec<String> {
        from.iter()
            .filter(|word| word.len() >= start + length)
            .map(|word| word[start..start + length].to_owned())
            .collect()
    };
    let (common, medium, rare) = (words(0..200, 2), words(1_000..6_000, 50), words(40_000..60_000, 200));
    let two = common.iter().zip(&medium).map(|(a, b)| format!("{a} {b}")).collect();
    let mut short = cut(&medium, 0, 1);
    short.extend(cut(&medium, 0, 2));
    let numbers: Vec<String> = (0..100).map(|number| format!(".{}", number * 97)).collect();
    let many = cut(&medium, 0, 2).chunks(16).map(|words| words.join(" ")).collect();
    let deep = common.clone();
    vec![
        ("rare", rare.clone(), 0),
        ("medium", medium.clone(), 0),
        ("common", common, 0),
        ("1-2 letters", short, 0),
        ("3 letters", cut(&medium, 1, 3), 0),
        ("4 letters", cut(&rare, 1, 4), 0),
        ("5 letters", cut(&rare, 2, 5), 0),
        ("two words", two, 0),
        ("deep offset", deep, 50_000),
        ("number in usernames", numbers, 0),
        ("sixteen short words", many, 0),
        ("100 characters", vec!["anan".repeat(25), "la".repeat(50), "sonson.1".repeat(12)], 0),
        ("nothing found", cut(&rare, 0, 5).iter().map(|word| format!("{word}zz")).collect(), 0),
    ]
}
