//! Checks of an operator's secret for examples and patterns.

use zeroize::Zeroizing;

use super::server::Mode;

/// Remedy of a weak secret.
pub(super) const REMEDY: &str = "make one with `openssl rand -hex 32`";

/// Placeholders that documentation uses in place of a secret.
const EXAMPLES: [&str; 5] = ["change-me", "changeme", "change_me", "your-secret", "placeholder"];

/// Sequences that people type instead of random text.
const SEQUENCES: [&str; 3] = ["0123456789abcdef0123456789abcdef", "1234567890123456", "abcdefghijklmnop"];

/// Minimum number of different bytes; a secret with fewer is a repeated pattern.
const FEWEST_DIFFERENT: usize = 6;

/// Returns the reason for which this secret is refused; `None` if it is acceptable. Production refuses known examples;
/// development allows them, because only this machine can reach the service.
pub(super) fn weakness(secret: &str, mode: Mode) -> Option<&'static str> {
    let is_example = mode == Mode::Production && contains_any(secret, &EXAMPLES);
    is_example.then_some("it is a known example")
}

/// True if the secret looks typed instead of generated. This is only a warning, because such a secret can still be hard
/// to guess.
pub(super) fn looks_typed(secret: &str) -> bool {
    let mut bytes = Zeroizing::new(secret.as_bytes().to_vec());
    bytes.sort_unstable();
    bytes.dedup();
    bytes.len() < FEWEST_DIFFERENT || contains_any(secret, &SEQUENCES)
}

fn contains_any(secret: &str, known: &[&str]) -> bool {
    let lower = Zeroizing::new(secret.to_ascii_lowercase());
    known.iter().any(|known| lower.contains(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANDOM: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

    #[test]
    fn an_example_is_no_key_in_production() {
        let example = "Change-Me: the output of openssl rand -hex 32";
        assert!(weakness(example, Mode::Production).is_some());
        assert_eq!(weakness(example, Mode::Development), None);
        assert_eq!(weakness(RANDOM, Mode::Production), None);
    }

    #[test]
    fn patterns_look_typed() {
        for secret in ["0123456789abcdef0123456789ABCDEF", &"a".repeat(40), &"ab".repeat(20)] {
            assert!(looks_typed(secret), "{secret}");
        }
        assert!(!looks_typed(RANDOM));
    }
}
