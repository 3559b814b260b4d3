//! Languages of people, as BCP 47 language tags.

use oxilangtag::LanguageTag;
use serde::{Deserialize, Deserializer};

use crate::reason::{self, Reason};
use crate::shape::{Shape, Shaped};

/// Maximum length of a language tag, in characters (RFC 5646, section 4.4.1).
pub const LONGEST_LOCALE: usize = 35;

/// Maximum number of languages of an `Accept-Language` header that are read.
const MOST_LANGUAGES: usize = 16;

/// A well-formed language tag (BCP 47, RFC 5646) in its canonical case, such as `de-AT` or `zh-Hant`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locale(String);

/// Error of [`Locale::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a language tag such as de or pt-BR (BCP 47), at most 35 characters")]
pub struct InvalidLocale;

impl Locale {
    /// Reads a language tag in any case.
    pub fn parse(text: &str) -> Result<Self, InvalidLocale> {
        if text.len() > LONGEST_LOCALE {
            return Err(InvalidLocale);
        }
        let tag = LanguageTag::parse_and_normalize(text).map_err(|_| InvalidLocale)?;
        Ok(Self(tag.into_inner()))
    }

    /// Returns the tag, for example `de-AT`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Creates a language tag from the store, which only holds parsed ones.
    #[must_use]
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// Returns the first of `offered` that suits, by [`look_up`].
    #[must_use]
    pub fn best_of<'a>(&self, offered: &'a [Self]) -> Option<&'a Self> {
        look_up(self.as_str(), offered, Self::as_str)
    }

    /// Returns the one of `offered` that suits the header `Accept-Language` best (RFC 9110, section 12.5.4). Malformed
    /// entries and the wildcard are skipped.
    #[must_use]
    pub fn preferred<'a>(accept_language: &str, offered: &'a [Self]) -> Option<&'a Self> {
        let mut best: Option<(f32, &Self)> = None;
        for entry in accept_language.split(',').take(MOST_LANGUAGES) {
            let (range, quality) = match entry.split_once(";q=") {
                Some((range, quality)) => (range, quality.trim().parse().unwrap_or(0.0)),
                None => (entry, 1.0),
            };
            if quality > best.map_or(0.0, |(best, _)| best)
                && let Some(found) = look_up(range.trim(), offered, Self::as_str)
            {
                best = Some((quality, found));
            }
        }
        best.map(|(_, found)| found)
    }
}

/// Returns the first of `offered` that suits a language: its `tag` itself, else that of the language without its last
/// subtags (RFC 4647, section 3.4, lookup). `de-AT` thus finds `de`.
#[must_use]
pub fn look_up<'a, T>(mut range: &str, offered: &'a [T], tag: impl Fn(&T) -> &str) -> Option<&'a T> {
    loop {
        if let Some(found) = offered.iter().find(|one| tag(one).eq_ignore_ascii_case(range)) {
            return Some(found);
        }
        range = range.rsplit_once('-')?.0;
    }
}

impl<'de> Deserialize<'de> for Locale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(|error| reason::refusal(Reason::InvalidFormat, error))
    }
}

impl Shaped for Locale {
    const SENT: Shape = Shape {
        min_length: Some(2),
        max_length: Some(LONGEST_LOCALE),
        ..Shape::new("A language tag (BCP 47).", "de-AT")
    };
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn locale(text: &str) -> Locale {
        Locale::parse(text).unwrap()
    }

    #[test]
    fn tags_are_brought_to_their_canonical_case() {
        let pairs = [("DE", "de"), ("de-at", "de-AT"), ("zh-hANT-tw", "zh-Hant-TW"), ("x-ours", "x-ours")];
        for (text, tag) in pairs {
            assert_eq!(locale(text).as_str(), tag);
        }
    }

    #[test]
    fn malformed_and_long_tags_are_refused() {
        for text in ["", "d", "de_AT", "de-", "-de", "de AT", "*", "de;q=1", "deutschland", "é", "de\n"] {
            assert_eq!(Locale::parse(text), Err(InvalidLocale), "{text:?}");
        }
        assert!(Locale::parse("de-x-aaaaaaaa-aaaaaaaa-aaaaaaaa-abc").is_ok());
        assert!(Locale::parse("de-x-aaaaaaaa-aaaaaaaa-aaaaaaaa-abcd").is_err());
    }

    #[test]
    fn the_header_is_read_by_quality_and_order() {
        let offered = ["en", "de", "pt-BR"].map(locale);
        let pairs = [
            ("de-AT,de;q=0.9,en;q=0.8", Some("de")),
            ("en;q=0.5, DE;q=0.7", Some("de")),
            ("ja, pt-br", Some("pt-BR")),
            ("de, en", Some("de")),
            ("de;q=0, en;q=0.1", Some("en")),
            ("de;q=x", None),
            ("*, ja;q=0.5", None),
            ("", None),
        ];
        for (header, found) in pairs {
            assert_eq!(Locale::preferred(header, &offered).map(Locale::as_str), found, "{header}");
        }
        let late = format!("{}de", "ja,".repeat(16));
        assert_eq!(Locale::preferred(&late, &offered), None);
    }

    #[test]
    fn a_region_falls_back_to_its_language() {
        let offered = ["en", "de", "pt", "pt-BR", "zh"].map(locale);
        let pairs = [
            ("de-AT", Some("de")),
            ("pt-BR", Some("pt-BR")),
            ("pt-PT", Some("pt")),
            ("zh-Hant-TW", Some("zh")),
            ("ja", None),
        ];
        for (wanted, found) in pairs {
            assert_eq!(locale(wanted).best_of(&offered).map(Locale::as_str), found, "{wanted}");
        }
    }
}
