//! Whether a secret of the operator is worth the name.

use zeroize::Zeroizing;

use super::server::Mode;

/// Parts of texts that stand in documentation and examples.
const EXAMPLES: [&str; 6] = ["change-me", "changeme", "change_me", "example", "your-secret", "placeholder"];

/// Sequences that people type where randomness was asked for.
const SEQUENCES: [&str; 3] = ["0123456789abcdef0123456789abcdef", "1234567890123456", "abcdefghijklmnop"];

/// Fewer different bytes than this in 32 are a pattern, not a random text.
const FEWEST_DIFFERENT: usize = 6;

/// Why this must not be a key in this mode; `None` where nothing speaks against it. Development
/// may use an example: nobody else can reach it.
pub(super) fn weakness(secret: &str, mode: Mode) -> Option<&'static str> {
    if mode == Mode::Development {
        return None;
    }
    let lower = Zeroizing::new(secret.to_ascii_lowercase());
    let mut bytes = Zeroizing::new(lower.as_bytes().to_vec());
    bytes.sort_unstable();
    bytes.dedup();
    if bytes.len() < FEWEST_DIFFERENT {
        return Some("it is the same few characters over and over");
    }
    let is_known = EXAMPLES.iter().chain(&SEQUENCES).any(|known| lower.contains(known));
    is_known.then_some("it is a known example")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_and_patterns_are_weak() {
        for secret in [
            "change-me: the output of openssl rand -hex 32",
            "0123456789abcdef0123456789ABCDEF",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "abababababababababababababababababab",
        ] {
            assert!(weakness(secret, Mode::Production).is_some(), "{secret}");
        }
    }

    #[test]
    fn random_hex_is_not() {
        let random = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        assert_eq!(weakness(random, Mode::Production), None);
    }
}
