//! Texts of strangers, made fit for a log line or an error.

/// At most so many characters, with `?` for what cannot be shown or could break a line.
pub(crate) fn cleaned(text: &str, longest: usize) -> String {
    let shown = |c: char| if c.is_control() || c == '\u{2028}' || c == '\u{2029}' { '?' } else { c };
    text.trim().chars().take(longest).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_text_is_one_short_line() {
        assert_eq!(cleaned(" a\r\nb\u{1b}[0m ", 100), "a??b?[0m");
        assert_eq!(cleaned(&"ä".repeat(500), 3), "äää");
    }
}
