//! Escaping of text for HTML. Characters that would hide or reorder other text are replaced by visible signs.

use std::fmt::{self, Write};

/// Writes text as an HTML text node or inside a quoted attribute value. Control characters, bidirectional overrides
/// and isolates are replaced by visible signs; line breaks and tabs stay.
pub(crate) fn write_text(output: &mut dyn Write, text: &str) -> fmt::Result {
    write_with(output, text, sign)
}

/// Writes the value of a form field, escaped. Invisible characters are not replaced, because the replacements would be
/// saved with the form.
pub(crate) fn write_typed(output: &mut dyn Write, text: &str) -> fmt::Result {
    write_with(output, text, |character| (character == '\0').then_some(Sign::Picture('\u{fffd}')))
}

/// Returns text as [`write_text`] writes it.
pub(crate) fn text(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    // Writing to a string cannot fail.
    let _ = write_text(&mut html, text);
    html
}

/// Visible sign in place of a character.
enum Sign {
    Picture(char),
    Name(u32),
}

/// Returns the sign of a character that is not shown as it is.
fn sign(character: char) -> Option<Sign> {
    match character {
        '\n' | '\r' | '\t' => None,
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(character)).map(Sign::Picture),
        '\x7f' => Some(Sign::Picture('\u{2421}')),
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(Sign::Name(u32::from(character)))
        }
        _ => None,
    }
}

fn write_with(output: &mut dyn Write, text: &str, sign: fn(char) -> Option<Sign>) -> fmt::Result {
    let mut written = 0;
    for (at, character) in text.char_indices() {
        let entity = match character {
            '&' => Some("&amp;"),
            '<' => Some("&lt;"),
            '>' => Some("&gt;"),
            '"' => Some("&quot;"),
            '\'' => Some("&#39;"),
            _ => None,
        };
        let sign = if entity.is_none() { sign(character) } else { None };
        if entity.is_none() && sign.is_none() {
            continue;
        }
        output.write_str(&text[written..at])?;
        written = at + character.len_utf8();
        match (entity, sign) {
            (Some(entity), _) => output.write_str(entity)?,
            (None, Some(Sign::Picture(picture))) => output.write_char(picture)?,
            (None, Some(Sign::Name(code))) => write!(output, "⟨U+{code:04X}⟩")?,
            (None, None) => {}
        }
    }
    output.write_str(&text[written..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(text(r#"<b a="1" b='2'>&"#), "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;");
    }

    #[test]
    fn controls_and_overrides_are_visible() {
        assert_eq!(text("a\u{202e}b\u{2066}c"), "a⟨U+202E⟩b⟨U+2066⟩c");
        assert_eq!(text("a\0\u{1b}\u{7f}\u{9b}"), "a␀␛␡⟨U+009B⟩");
        assert_eq!(text("two\r\nlines\tand a tab"), "two\r\nlines\tand a tab");
    }

    #[test]
    fn typed_text_keeps_its_characters() {
        let mut html = String::new();
        write_typed(&mut html, "\"\u{202e}\0").unwrap();
        assert_eq!(html, "&quot;\u{202e}\u{fffd}");
    }
}
