//! The sources of templates: what of them is the template language, and what is HTML.

use std::ops::Range;

/// Stands for a printed token, in [`as_html`].
pub(crate) const TOKEN: char = '\u{1a}';
/// Stands for another printed value.
pub(crate) const VALUE: char = '\u{1b}';

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Print,
    Block,
    Comment,
}

/// Returns the line of the first block that switches escaping on or off.
pub(crate) fn autoescape(source: &str) -> Option<usize> {
    let mut blocks = parts(source).into_iter().filter(|(kind, _)| *kind == Kind::Block);
    let (_, range) = blocks.find(|(_, range)| word(&source[range.clone()]) == "autoescape")?;
    Some(line(source, range.start))
}

/// Returns the line of a position, counted from 1.
pub(crate) fn line(source: &str, at: usize) -> usize {
    source[..at].matches('\n').count() + 1
}

/// Returns a source with every position kept, in which HTML alone is left: blocks and comments are blank, and printed
/// values are [`TOKEN`] or [`VALUE`].
pub(crate) fn as_html(source: &str) -> String {
    let mut html = String::with_capacity(source.len());
    for (kind, range) in parts(source) {
        html.push_str(&source[html.len()..range.start]);
        let filler = match kind {
            Kind::Print if source[range.clone()].contains("token") => TOKEN,
            Kind::Print => VALUE,
            Kind::Block | Kind::Comment => ' ',
        };
        html.extend(std::iter::repeat_n(filler, range.len()));
    }
    html.push_str(&source[html.len()..]);
    html
}

/// Finds what is between delimiters, with them.
fn parts(source: &str) -> Vec<(Kind, Range<usize>)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = source[at..].find('{').map(|next| at + next) {
        let (kind, end) = match source.as_bytes().get(start + 1) {
            Some(b'{') => (Kind::Print, "}}"),
            Some(b'%') => (Kind::Block, "%}"),
            Some(b'#') => (Kind::Comment, "#}"),
            _ => {
                at = start + 1;
                continue;
            }
        };
        at = start + 2 + length(&source[start + 2..], end, kind != Kind::Comment);
        found.push((kind, start..at));
        if kind == Kind::Block && word(&source[start..at]) == "raw" {
            let mut ends = source[at..].match_indices("{%").map(|(next, _)| at + next);
            at = ends.find(|next| word(&source[*next..]) == "endraw").unwrap_or(source.len());
        }
    }
    found
}

/// Returns the length of a text up to its end, with it. An end in a string is none.
fn length(text: &str, end: &str, has_strings: bool) -> usize {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, c) in text.char_indices() {
        match quote {
            Some(_) if is_escaped => is_escaped = false,
            Some(_) if c == '\\' => is_escaped = true,
            Some(open) if c == open => quote = None,
            None if text[at..].starts_with(end) => return at + end.len(),
            None if has_strings && matches!(c, '"' | '\'') => quote = Some(c),
            _ => {}
        }
    }
    text.len()
}

/// Returns the first word of a block.
fn word(block: &str) -> &str {
    let inner = block.trim_start_matches("{%").trim_start_matches(['-', '+']).trim_start();
    inner.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_left_at_its_place() {
        for (source, expected) in [
            ("a{{ b }}c", "a~~~~~~~c"),
            ("{% if a %}b{% endif %}", "          b           "),
            ("{# {% x %} #}a", "             a"),
            ("{{ form.token }}", "^^^^^^^^^^^^^^^^"),
            ("{{ \"}}\" }}a", "~~~~~~~~~~a"),
            ("{{ '\\'}}' }}a", "~~~~~~~~~~~~a"),
            ("{a}{", "{a}{"),
            ("{% raw %}{{ a }}{%- endraw %}b", "         {{ a }}             b"),
            ("ä{{ ä", "ä~~~~~"),
        ] {
            let html = as_html(source).replace(TOKEN, "^").replace(VALUE, "~");
            assert_eq!(html, expected, "{source}");
        }
    }
}
