//! Trigrams of the search index: hashes of three adjacent characters of folded words. Each word is padded with two
//! leading spaces, so that its prefix is a trigram as well. Hashes may collide, because the index only yields
//! candidates.

use latchkey_domain::search::{SearchQuery, SearchText};

const TRIGRAM: usize = 3;
/// Maximum number of trigrams of one word in a query. More would hardly narrow the candidates.
const ASKED_PER_WORD: usize = 12;
/// Multiplier of Fibonacci hashing: 2⁶⁴ divided by the golden ratio, an odd number with well-mixed bits.
const MIXER: u64 = 0x9E37_79B9_7F4A_7C15;
const SCALAR_BITS: u32 = 21;

/// Returns the distinct trigrams of a text: those of name and username, a null, and the others. The index of names ends at
/// the null (`0038_names_in_the_index`).
pub(crate) fn of_text(text: &SearchText) -> Vec<Option<i32>> {
    let of_names = of_fields(&[&text.name, &text.username]);
    let mut others = of_fields(&[&text.bio]);
    others.retain(|number| of_names.binary_search(number).is_err());
    of_names.into_iter().map(Some).chain([None]).chain(others.into_iter().map(Some)).collect()
}

/// Returns the distinct trigrams of texts, ascending.
fn of_fields(fields: &[&str]) -> Vec<i32> {
    let mut numbers = Vec::new();
    for word in fields.iter().flat_map(|field| field.split(' ')) {
        if word.is_empty() {
            continue;
        }
        let padded: Vec<char> = "  ".chars().chain(word.chars()).collect();
        numbers.extend(padded.windows(TRIGRAM).map(number));
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Returns [`of_text`] as the text form of a PostgreSQL array.
pub(crate) fn array_text(text: &SearchText) -> String {
    let text_of = |number: Option<i32>| number.map_or_else(|| "NULL".to_owned(), |number| number.to_string());
    let numbers: Vec<_> = of_text(text).into_iter().map(text_of).collect();
    format!("{{{}}}", numbers.join(","))
}

/// Chooses trigrams that every match of a query contains. For a short word this is only the trigram of its
/// prefix. For a longer word the chosen trigrams cover the word from both ends.
pub(crate) fn of_query(query: &SearchQuery) -> Vec<i32> {
    let mut numbers: Vec<i32> = query.words().flat_map(of_word).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn of_word(word: &str) -> Vec<i32> {
    let chars: Vec<char> = word.chars().collect();
    if SearchQuery::is_short(word) {
        let padded: Vec<char> = "  ".chars().chain(chars.iter().copied()).collect();
        return vec![number(&padded[chars.len() - 1..])];
    }
    let last = chars.len() - TRIGRAM;
    let step = TRIGRAM.max(last.div_ceil(ASKED_PER_WORD - 1));
    let starts = (0..last).step_by(step).chain([last]);
    starts.map(|start| number(&chars[start..start + TRIGRAM])).collect()
}

/// Hashes a trigram to 32 bits. Its three characters, joined into a number of 63 bits, are multiplied by [`MIXER`]. The
/// upper half of the product depends on all three characters.
fn number(trigram: &[char]) -> i32 {
    let joined = trigram.iter().fold(0, |joined, c| joined << SCALAR_BITS | u64::from(u32::from(*c)));
    let mixed = (joined ^ (joined >> 32)).wrapping_mul(MIXER) >> 32;
    i32::from_ne_bytes(u32::try_from(mixed).unwrap_or_default().to_ne_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use latchkey_domain::search::matches;

    use super::*;

    fn text(name: &str) -> SearchText {
        SearchText::of(name, None, None)
    }

    #[test]
    fn the_number_of_a_trigram_never_changes() {
        // Hashes are stored: another function needs a migration that rebuilds them.
        assert_eq!(number(&['a', 'd', 'a']), 2_051_619_653);
        assert_eq!(of_text(&text("ada")).iter().flatten().count(), 3);
    }

    #[test]
    fn what_matches_has_the_trigrams_of_the_query() {
        let names = ["Ada Lovelace", "a", "ab cd", "計算機 の 母", "👩‍💻 x", "100% _ly", "Übermut", "ααα"];
        for name in names {
            let text = text(name);
            let has = of_text(&text);
            let chars: Vec<char> = name.chars().collect();
            for (start, end) in
                (0..chars.len()).flat_map(|start| (start + 1..=chars.len()).map(move |end| (start, end)))
            {
                let part: String = chars[start..end].iter().collect();
                let Ok(query) = SearchQuery::parse(&part) else { continue };
                if matches(&query, &text).is_some() {
                    assert!(
                        of_query(&query).iter().all(|number| has.contains(&Some(*number))),
                        "{part:?} in {name:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn trigrams_of_name_and_username_stand_before_the_null() {
        let text = SearchText::of("Ada", Some("lady"), Some("ada likes ladders"));
        let numbers = of_text(&text);
        let (of_names, others) = numbers.split_at(numbers.iter().position(Option::is_none).unwrap());
        let has = |part: &[Option<i32>], trigram: &str| {
            part.contains(&Some(number(&trigram.chars().collect::<Vec<_>>())))
        };
        assert!(has(of_names, " la") && has(of_names, "ady") && !has(of_names, "add"));
        assert!(has(others, "add") && !has(others, " la"));
        assert_eq!(array_text(&text).matches("NULL").count(), 1);
    }

    #[test]
    fn trigrams_seldom_fall_together() {
        let letters: Vec<char> = ('a'..='z').chain('ぁ'..='ん').chain([' ']).collect();
        let mut numbers = Vec::new();
        for a in &letters {
            for b in &letters {
                for c in &letters {
                    numbers.push(number(&[*a, *b, *c]));
                }
            }
        }
        let all = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert!(all - numbers.len() < all / 500, "{} of {all}", all - numbers.len());
    }
}
