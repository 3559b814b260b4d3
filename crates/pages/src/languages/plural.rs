//! Plural categories of whole numbers (CLDR), for the built-in languages and for some that operators may
//! add.

/// Plural categories for which the file of a language can have texts.
pub(super) const CATEGORIES: [&str; 6] = ["zero", "one", "two", "few", "many", "other"];

/// Returns the plural category of a number in a language. A language that is not listed distinguishes 1
/// from other numbers.
pub(super) fn category(tag: &str, count: u64) -> &'static str {
    let language = tag.split('-').next().unwrap_or_default();
    let (tens, ones) = (count % 100, count % 10);
    let is_teen = (11..=14).contains(&tens);
    match language {
        "ja" | "zh" | "ko" | "vi" | "th" | "id" | "ms" => "other",
        "fr" | "pt" if count < 2 => "one",
        "cs" | "sk" if (2..=4).contains(&count) => "few",
        "ru" | "uk" | "be" | "sr" | "hr" | "bs" if ones == 1 && !is_teen => "one",
        "ru" | "uk" | "be" | "sr" | "hr" | "bs" | "pl" if (2..=4).contains(&ones) && !is_teen => "few",
        "ru" | "uk" | "be" => "many",
        "ar" if count == 0 => "zero",
        "ar" | "he" if count == 2 => "two",
        "ar" if (3..=10).contains(&tens) => "few",
        "ar" if tens >= 11 => "many",
        _ if count == 1 && !matches!(language, "sr" | "hr" | "bs") => "one",
        "pl" => "many",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::category;

    #[test]
    fn categories_are_those_of_the_languages() {
        for (tag, count, expected) in [
            ("en", 0, "other"),
            ("en", 1, "one"),
            ("de-AT", 2, "other"),
            ("fr", 0, "one"),
            ("pt", 1, "one"),
            ("ja", 1, "other"),
            ("ru", 21, "one"),
            ("ru", 11, "many"),
            ("ru", 3, "few"),
            ("pl", 21, "many"),
            ("pl", 22, "few"),
            ("cs", 5, "other"),
            ("ar", 0, "zero"),
            ("ar", 103, "few"),
            ("ar", 111, "many"),
        ] {
            assert_eq!(category(tag, count), expected, "{tag} {count}");
        }
    }
}
