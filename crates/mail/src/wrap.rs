//! Line breaks of the text part: 72 columns, as usual in plain text mails.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Maximum width of a line, in columns. Chinese and Japanese characters are two columns wide.
pub(crate) const COLUMNS: usize = 72;
/// Characters that do not begin a line (JIS X 4051, in the extent that mails need).
const NOT_FIRST: &str = "、。，．・：；？！）」』】〉》”’…ーぁぃぅぇぉっゃゅょァィゥェォッャュョ%),.:;?!";
/// Characters that do not end a line.
const NOT_LAST: &str = "（「『【〈《“‘(";

/// Breaks a paragraph into lines: at spaces, and between two characters of which one is wide, but not after a digit. A word that is wider
/// than a line stays whole.
pub(crate) fn wrap(paragraph: &str) -> String {
    let mut lines = String::with_capacity(paragraph.len() + paragraph.len() / COLUMNS + 1);
    let (mut start, mut column, mut previous) = (0, 0, ' ');
    let mut last_break = None;
    for (at, character) in paragraph.char_indices() {
        if character == ' ' {
            last_break = Some((at, at + 1));
        } else if may_break(previous, character) {
            last_break = Some((at, at));
        }
        column += width(character);
        if column > COLUMNS
            && character != ' '
            && let Some((end, next)) = last_break.take()
        {
            lines.extend([&paragraph[start..end], "\n"]);
            start = next;
            column = paragraph[start..at].width() + width(character);
        }
        previous = character;
    }
    lines + &paragraph[start..]
}

fn may_break(left: char, right: char) -> bool {
    let is_wide = width(left) == 2 || width(right) == 2;
    let is_at_space = [left, right].iter().any(|side| side.is_whitespace());
    // A number stays with the word that counts, such as 2段階.
    let is_whole = is_at_space || left.is_ascii_digit();
    is_wide && !is_whole && !NOT_LAST.contains(left) && !NOT_FIRST.contains(right)
}

fn width(character: char) -> usize {
    character.width().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_break_at_spaces_and_long_words_stay_whole() {
        let word = "a".repeat(80);
        let text = format!("{} {word} {}", "b ".repeat(40).trim(), "c d");
        let wrapped = wrap(&text);
        assert_eq!(wrapped.lines().map(str::len).collect::<Vec<_>>(), [71, 7, 80, 3]);
        assert_eq!(wrapped.replace('\n', " "), text);
    }

    #[test]
    fn wide_characters_count_two_columns_and_need_no_spaces() {
        let wrapped = wrap(&"認証".repeat(30));
        assert_eq!(wrapped.lines().map(UnicodeWidthStr::width).collect::<Vec<_>>(), [72, 48]);
    }

    #[test]
    fn no_line_begins_with_a_closing_mark_or_ends_with_an_opening_one() {
        let closing = wrap(&format!("{}。{}", "字".repeat(36), "字".repeat(3)));
        let opening = wrap(&format!("{}「{}」", "字".repeat(35), "字".repeat(3)));
        assert_eq!(closing.lines().nth(1), Some("字。字字字"));
        assert_eq!(opening.lines().nth(1), Some("「字字字」"));
    }

    #[test]
    fn a_number_stays_with_what_it_counts() {
        let wrapped = wrap(&format!("{}2段階", "字".repeat(35)));
        assert_eq!(wrapped.lines().nth(1), Some("2段階"));
    }

    #[test]
    fn a_no_break_space_keeps_words_together() {
        for words in ["a\u{a0}?", "Ada\u{a0}様", "様\u{a0}Ada"] {
            let wrapped = wrap(&format!("{} {words}", "b".repeat(70)));
            assert_eq!(wrapped.lines().nth(1), Some(words));
        }
    }
}
