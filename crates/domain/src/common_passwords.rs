//! Offline check for common passwords: an embedded list, and patterns such as repetitions and keyboard runs.
//!
//! The other rules for passwords are in [`crate::password`]. `data/README.md` describes the origin of the list.
//!
//! The check does not detect: a listed word inside a longer password (`xx-password1-xx`), variants missing in the
//! list (`pa55w0rd!7`), dates, phone numbers, names of relatives, quotations, dictionary phrases, and passwords from
//! a breach that are not common.

use icu_normalizer::ComposingNormalizerBorrowed;
use zeroize::Zeroizing;

/// The embedded list: one password per line, at least eight characters each, in NFC and lower case, unique, sorted by
/// bytes. Every line ends with a line feed.
const LIST: &str = include_str!("../data/common_passwords.txt");

/// Cyclic sequences of characters, used in both directions: the digits, the alphabet, and rows and slanted columns of
/// QWERTY, QWERTZ and AZERTY keyboards.
const SEQUENCES: [&[u8]; 16] = [
    b"0123456789",
    b"abcdefghijklmnopqrstuvwxyz",
    b"qwertyuiop",
    b"qwertzuiop",
    b"azertyuiop",
    b"asdfghjkl",
    b"qsdfghjklm",
    b"zxcvbnm",
    b"yxcvbnm",
    b"1qaz",
    b"2wsx",
    b"3edc",
    b"4rfv",
    b"5tgb",
    b"6yhn",
    b"7ujm",
];

/// Minimum length, in characters, of a run: a part of one of [`SEQUENCES`].
const SHORTEST_RUN: usize = 3;

/// Maximum length, in characters, of a repeated block that counts as a pattern.
const LONGEST_BLOCK: usize = 4;

/// Maximum length, in characters, of a repetition that is refused. Longer repetitions are rare in lists of passwords.
const LONGEST_REPETITION: usize = 12;

/// True if a password is too common to be allowed.
///
/// The text is compared as a whole, in NFC and lower case. It is common if
/// - it is on the built-in list, or
/// - it has at most 12 characters and repeats one block of up to four (`aaaaaaaa`, `abababab`, `123123123`,
///   `20202020`), or
/// - it consists only of runs of three or more along the digits, the alphabet or a keyboard row or column, up or down
///   (`87654321`, `qwertyuiop`, `abcd1234`, `1qaz2wsx`).
#[must_use]
pub fn is_common(password: &str) -> bool {
    let lower = lower_case(password);
    is_listed(&lower) || is_block_repeated(&lower) || is_made_of_runs(lower.as_bytes())
}

/// Returns the password in NFC and lower case. The copy is zeroised when dropped.
fn lower_case(password: &str) -> Zeroizing<String> {
    let normalizer = ComposingNormalizerBorrowed::new_nfc();
    // The capacity is sufficient: two bytes become three at most. A reallocation would leave an unzeroised copy.
    let mut lower = Zeroizing::new(String::with_capacity(password.len() * 3));
    lower.extend(normalizer.normalize_iter(password.chars()).flat_map(char::to_lowercase));
    lower
}

/// True if the list contains the password. Uses binary search in the text, because an index of its lines would be
/// larger.
fn is_listed(password: &str) -> bool {
    let (mut low, mut high) = (0, LIST.len());
    while low < high {
        // `low`, `high` and `start` are offsets of line starts.
        let middle = low + (high - low) / 2;
        let start =
            LIST.as_bytes()[low..middle].iter().rposition(|&b| b == b'\n').map_or(low, |i| low + i + 1);
        let end = LIST.as_bytes()[start..].iter().position(|&b| b == b'\n').map_or(LIST.len(), |i| start + i);

        match LIST.as_bytes()[start..end].cmp(password.as_bytes()) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => low = end + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    false
}

/// True if the text repeats one block of up to [`LONGEST_BLOCK`] characters. The last repetition may be incomplete.
fn is_block_repeated(password: &str) -> bool {
    let length = password.chars().count();
    length <= LONGEST_REPETITION
        && (1..=LONGEST_BLOCK).any(|block| {
            length >= 2 * block
                && password.chars().skip(block).zip(password.chars()).all(|(later, earlier)| later == earlier)
        })
}

fn is_made_of_runs(password: &[u8]) -> bool {
    let mut rest = password;
    while !rest.is_empty() {
        let run = longest_run(rest);
        if run < SHORTEST_RUN {
            return false;
        }
        rest = &rest[run..];
    }
    !password.is_empty()
}

/// Returns the length of the longest run at the start of the text, over all sequences and both directions.
fn longest_run(text: &[u8]) -> usize {
    SEQUENCES
        .iter()
        .flat_map(|sequence| [run_along(sequence, text, 1), run_along(sequence, text, sequence.len() - 1)])
        .max()
        .unwrap_or(0)
}

/// Returns the length of the run at the start of the text that advances by `step` along the sequence.
fn run_along(sequence: &[u8], text: &[u8], step: usize) -> usize {
    let place = |byte: u8| sequence.iter().position(|&b| b == byte);
    let Some(mut at) = text.first().and_then(|&byte| place(byte)) else {
        return 0;
    };
    let steps = text[1..].iter().take_while(|&&byte| {
        at = (at + step) % sequence.len();
        sequence[at] == byte
    });
    1 + steps.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_sorted_unique_lower_case_and_long_enough() {
        let lines: Vec<&str> = LIST.lines().collect();
        assert!(lines.len() >= 20_000, "{}", lines.len());
        assert!(lines.is_sorted_by(|a, b| a < b));
        assert!(LIST.ends_with('\n') && !LIST.contains('\r'));
        for line in lines {
            assert!(line.chars().count() >= 8, "{line}");
            assert_eq!(*lower_case(line), line);
        }
    }

    #[test]
    fn every_listed_password_is_found_in_any_case() {
        for line in LIST.lines() {
            assert!(is_listed(line), "{line}");
            assert!(is_common(&line.to_uppercase()), "{line}");
        }
    }

    #[test]
    fn neighbours_of_listed_passwords_are_not_found() {
        for line in LIST.lines() {
            assert!(!is_listed(&format!("{line}~\u{10FFFF}")), "{line}");
            assert!(!is_listed(&line[..3]), "{line}");
        }
        for text in ["", "\n", "password\n", "\npassword", "\u{10FFFF}", "password\npassword1"] {
            assert!(!is_listed(text), "{text:?}");
        }
    }

    #[test]
    fn well_known_passwords_are_common() {
        for password in [
            "password",
            "Password",
            "PASSWORD1",
            "12345678",
            "qwertyuiop",
            "iloveyou",
            "baseball",
            "football1",
            "letmein123",
            "P@ssw0rd",
            "Passw0rd!",
            "trustno1",
            "sunshine",
            "princess",
            "summer2024",
            "welcome1",
        ] {
            assert!(is_common(password), "{password}");
        }
    }

    #[test]
    fn repeated_blocks_are_common() {
        for password in [
            "aaaaaaaa",
            "        ",
            "éééééééé",
            "E\u{301}ée\u{301}É",
            "abababab",
            "123123123",
            "Xyz7xYZ7xyz7",
            "12341234123",
        ] {
            assert!(is_common(password), "{password}");
        }
    }

    #[test]
    fn runs_are_common() {
        for password in [
            "12345678",
            "87654321",
            "567890123",
            "abcdefgh",
            "ZYXWVUTS",
            "qwertzui",
            "azertyuio",
            "lkjhgfdsa",
            "abcd1234",
            "asdfghjkl",
            "1qaz2wsx3edc",
            "zaq1xsw2",
            "qweasdzxc",
            "1234567890qwertyuiop",
        ] {
            assert!(is_common(password), "{password}");
        }
    }

    #[test]
    fn other_passwords_pass() {
        for password in [
            "correct horse battery staple",
            "vK3#mq9ZpL",
            "12345678x9",
            "abcabdabe",
            "qwe7asd2zxc",
            "Zug um Zug nach Ulm",
            "пароль-для-лодки",
            "密码锁在船上的箱子里",
            "xpasswordx-17",
            "",
        ] {
            assert!(!is_common(password), "{password}");
        }
    }
}
