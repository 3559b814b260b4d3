//! Long email codes: 80 random bits as text that a user types. Purposes and attempts of codes are in [`crate::codes`].

use zeroize::{Zeroize, ZeroizeOnDrop};

/// Crockford's Base32 alphabet in lower case, which omits `i`, `l`, `o` and `u`.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Length of a code in characters, without hyphens.
const LENGTH: usize = 16;
/// Number of characters between hyphens.
const GROUP: usize = 4;

/// An email code of sixteen characters in Crockford's Base32: 80 random bits, so attempts need no limit.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct LongCode(String);

impl LongCode {
    /// Creates a code from injected randomness: ten bytes, five bits per character.
    #[must_use]
    pub fn new(random: [u8; 10]) -> Self {
        let bits = random.iter().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
        let symbol = |place: usize| char::from(ALPHABET[(bits >> (5 * place) & 31) as usize]);
        Self((0..LENGTH).rev().map(symbol).collect())
    }

    /// Parses a code as typed: ignores case, spaces and hyphens, reads `o` as `0`, and `i` and `l` as `1`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut code = Self(String::with_capacity(LENGTH));
        for typed in text.chars().filter(|typed| !matches!(typed, ' ' | '-')) {
            let symbol = match typed.to_ascii_lowercase() {
                'o' => '0',
                'i' | 'l' => '1',
                other => other,
            };
            let is_symbol = u8::try_from(symbol).is_ok_and(|symbol| ALPHABET.contains(&symbol));
            if !is_symbol || code.0.len() == LENGTH {
                return None;
            }
            code.0.push(symbol);
        }
        (code.0.len() == LENGTH).then_some(code)
    }

    /// Returns the lower-case characters without hyphens, the input of the MAC.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the characters in groups, `xxxx-xxxx-xxxx-xxxx`, for the mail.
    #[must_use]
    pub fn expose_grouped(&self) -> String {
        let mut grouped = String::with_capacity(LENGTH + LENGTH / GROUP - 1);
        for (place, symbol) in self.0.chars().enumerate() {
            if place > 0 && place % GROUP == 0 {
                grouped.push('-');
            }
            grouped.push(symbol);
        }
        grouped
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn eighty_bits_are_sixteen_characters_in_four_groups() {
        assert_eq!(LongCode::new([0; 10]).expose_grouped(), "0000-0000-0000-0000");
        assert_eq!(LongCode::new([255; 10]).expose_grouped(), "zzzz-zzzz-zzzz-zzzz");
        let counted = LongCode::new([0, 68, 50, 20, 199, 66, 84, 182, 53, 207]);
        assert_eq!(counted.expose(), "0123456789abcdef");
    }

    #[test]
    fn a_code_is_read_as_people_type_it() {
        let read = LongCode::parse("O1Il-2345 6789-ABCD").unwrap();
        assert_eq!(read.expose(), "0111".to_owned() + "23456789abcd");
    }

    #[test]
    fn texts_other_than_sixteen_symbols_are_refused() {
        for text in [
            "",
            "123456",
            "0123-4567-89ab-cde",
            "0123-4567-89ab-cdefg",
            "0123-4567-89ab-cdeu",
            "0123-4567-89ab-cdeé",
        ] {
            assert!(LongCode::parse(text).is_none(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_code_is_read_back(random: [u8; 10]) {
            let code = LongCode::new(random);
            prop_assert!(LongCode::parse(&code.expose_grouped()) == Some(code.clone()));
            prop_assert!(LongCode::parse(&code.expose_grouped().to_uppercase()) == Some(code));
        }
    }
}
