//! Unicode folding for search, and normalisation to NFC. Stored text and queries are folded alike.
//!
//! Folding runs in Rust and not in the database, so that all engines compare the same characters. Matching is defined
//! in [`crate::search`]. The folded form is never displayed.

use icu_casemap::CaseMapper;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;

/// Folds a text: NFKD, without marks (general category Mn) and format characters (Cf), full case folding,
/// NFC.
///
/// Accents, case, width and ligatures vanish: `Ærø`, `ÆRØ` and `ærø` fold to one text, and so do `Éva`, `eva`
/// and `ＥＶＡ`. Language-specific rules do not apply: `I` folds to `i` everywhere.
///
/// Folding is idempotent. The tests prove it for every scalar value and for random strings.
#[must_use]
pub fn fold(text: &str) -> String {
    if is_folded_ascii(text) {
        return text.to_owned();
    }

    let categories = CodePointMapData::<GeneralCategory>::new();
    let bare: String = DecomposingNormalizerBorrowed::new_nfkd()
        .normalize(text)
        .chars()
        .filter(|&c| !is_dropped(categories.get(c)))
        .collect();

    nfc(&CaseMapper::new().fold_string(&bare))
}

/// Normalises a text to NFC (canonical composition).
#[must_use]
pub fn nfc(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

/// Returns the text in NFKC.
#[must_use]
pub fn nfkc(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfkc().normalize(text).into_owned()
}

/// Returns the words of a folded text, separated by Unicode white space. Punctuation is part of a word.
pub fn words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split_whitespace()
}

/// True for ASCII without upper case, which equals its folded form. This is the fast path of [`fold`].
fn is_folded_ascii(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase())
}

fn is_dropped(category: GeneralCategory) -> bool {
    matches!(category, GeneralCategory::NonspacingMark | GeneralCategory::Format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_accents_width_and_ligatures_vanish() {
        for (text, folded) in [
            ("Éva", "eva"),
            ("E\u{301}va", "eva"),
            ("ＥＶＡ", "eva"),
            ("STRASSE", "strasse"),
            ("Straße", "strasse"),
            ("STRAẞE", "strasse"),
            ("ﬁnn", "finn"),
            ("İstanbul", "istanbul"),
            ("ISTANBUL", "istanbul"),
            ("Ærø", "ærø"),
            ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
            ("Σίσυφος", "σισυφοσ"),
            ("ᾼδης", "αδησ"),
            ("Ё", "е"),
            ("한국", "한국"),
            ("ｶﾞ", "カ"),
            ("①", "1"),
            ("𝔄𝔡𝔞", "ada"),
        ] {
            assert_eq!(fold(text), folded, "{text}");
        }
    }

    #[test]
    fn format_characters_vanish() {
        assert_eq!(fold("a\u{200B}d\u{AD}a\u{200D}\u{FEFF}"), "ada");
        assert_eq!(fold("\u{202E}ada\u{2066}"), "ada");
    }

    #[test]
    fn spacing_marks_and_punctuation_stay() {
        assert_eq!(fold("का"), "का");
        assert_eq!(fold("O'Neil-Smith_%*"), "o'neil-smith_%*");
    }

    #[test]
    fn nfc_composes_and_keeps_everything_else() {
        assert_eq!(nfc("E\u{301}VA \u{200B}ﬁ "), "ÉVA \u{200B}ﬁ ");
    }

    #[test]
    fn words_stand_between_unicode_white_space() {
        let folded = fold(" Ada\u{A0}\u{3000}King\tof\nLovelace\u{2003}");
        let found: Vec<&str> = words(&folded).collect();
        assert_eq!(found, ["ada", "king", "of", "lovelace"]);
    }

    #[test]
    fn text_of_marks_alone_has_no_word() {
        assert_eq!(words(&fold("\u{301}\u{200B} \u{FE0F}")).count(), 0);
    }

    #[test]
    fn folding_every_scalar_value_is_idempotent() {
        for c in '\0'..=char::MAX {
            let once = fold(c.encode_utf8(&mut [0; 4]));
            assert_eq!(fold(&once), once, "U+{:04X}", u32::from(c));
        }
    }
}
