//! Sanitises user text for mails: one line, no invisible characters, nothing that mail clients turn into a
//! link. HTML escaping is done by the renderer.

/// Maximum length of a name in a mail, in characters: enough for a name, too short for spam.
const LONGEST_NAME: usize = 64;
/// Minimum number of digits for which a name is left out of a mail: mail clients offer to call the number, and readers
/// may take it for a code.
const TELEPHONE_DIGITS: usize = 5;

/// Reduces text to one line: control characters and separators become spaces, invisible and bidirectional
/// formatting characters are removed, white space is collapsed and trimmed.
pub(crate) fn single_line(text: &str) -> String {
    let cleaned: String = text
        .chars()
        .filter(|character| !is_invisible(*character))
        .map(|character| if character.is_control() || character.is_whitespace() { ' ' } else { character })
        .collect();
    cleaned.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Sanitises a name for the greeting; `None` if it is empty or resembles a link.
pub(crate) fn person_name(text: &str) -> Option<String> {
    let name = single_line(text);
    if name.is_empty() || looks_like_link(&name) {
        return None;
    }
    if name.chars().count() <= LONGEST_NAME {
        return Some(name);
    }
    let start: String = name.chars().take(LONGEST_NAME).collect();
    Some(format!("{}…", start.trim_end()))
}

/// True for zero-width and bidirectional formatting characters, except the joiners U+200C and U+200D, which
/// names and emoji need.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}'
        | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

/// True for text that mail clients make clickable: addresses, URLs, host names and phone numbers.
fn looks_like_link(name: &str) -> bool {
    let has_mark = name.contains(['@', '/', '\\', ':', '＠', '／', '：']);
    let digits = name.chars().filter(|character| character.is_numeric()).count();
    has_mark || digits >= TELEPHONE_DIGITS || has_host_name(name)
}

/// True if the name has a dot between a letter or digit and at least two more: `example.org`, but not `J.R.R.`
fn has_host_name(name: &str) -> bool {
    let pieces: Vec<&str> = name.split(['.', '。', '．', '｡']).collect();
    pieces.windows(2).any(|pair| {
        let before = pair[0].chars().next_back().is_some_and(char::is_alphanumeric);
        let after =
            pair[1].chars().take_while(|character| character.is_alphanumeric() || *character == '-').count();
        before && after >= 2
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn names_of_people_stay() {
        for name in [
            "Ada Lovelace",
            "J.R.R. Tolkien",
            "Žofie O'Brien-Ng Jr.",
            "李小龍",
            "Dr. Who",
            "{{7*7}}",
            "<script>",
        ] {
            assert_eq!(person_name(name).as_deref(), Some(name));
        }
    }

    #[test]
    fn names_that_would_be_clickable_go() {
        let links = [
            "https://evil.example",
            "evil.example",
            "see www.evil.example now",
            "win@evil.example",
            "evil。example",
            "tel:+155",
            "call 555 0199",
            "evil.xn--p1ai",
            "mailto:a",
            "evil\u{200B}.com",
            "e\u{2060}vil.\u{2060}com",
        ];
        for name in links {
            assert_eq!(person_name(name), None, "{name:?}");
        }
    }

    #[test]
    fn lines_cannot_be_added() {
        assert_eq!(single_line("Ada\r\nBcc: all\u{2028}x\u{0}y\u{85}z\t "), "Ada Bcc: all x y z");
        assert_eq!(person_name(" \r\n\u{200B} "), None);
    }

    #[test]
    fn direction_cannot_be_turned() {
        assert_eq!(single_line("a\u{202E}b\u{2066}c\u{200F}d"), "abcd");
        assert_eq!(single_line("👩\u{200D}🚀"), "👩\u{200D}🚀");
    }

    #[test]
    fn long_names_are_cut_at_a_character() {
        let name = person_name(&"é".repeat(100)).unwrap();
        assert_eq!(name, format!("{}…", "é".repeat(64)));
    }
}
