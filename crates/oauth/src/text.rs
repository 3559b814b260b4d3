//! Sanitising of untrusted texts for logs and errors.

/// Truncates to `longest` characters and replaces control characters and line separators by `?`.
pub(crate) fn sanitized(text: &str, longest: usize) -> String {
    let shown = |c: char| if c.is_control() || c == '\u{2028}' || c == '\u{2029}' { '?' } else { c };
    text.trim().chars().take(longest).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_text_is_one_short_line() {
        assert_eq!(sanitized(" a\r\nb\u{1b}[0m ", 100), "a??b?[0m");
        assert_eq!(sanitized(&"ä".repeat(500), 3), "äää");
    }
}
