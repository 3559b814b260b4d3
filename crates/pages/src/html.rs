//! A scanner of HTML. It finds the tags that a browser finds (HTML standard, section 13.2.5), since operators write them in
//! any case, with any quotes, and in comments.

use std::borrow::Cow;

/// Elements whose contents are text.
const RAW: [&str; 8] = ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"];

/// A start or end tag.
pub(crate) struct Tag<'a> {
    /// Position of its `<`.
    pub(crate) at: usize,
    /// Name in lower case.
    pub(crate) name: String,
    pub(crate) is_end: bool,
    /// Names in lower case, and values as they are written.
    attributes: Vec<(String, &'a str)>,
}

impl Tag<'_> {
    /// Returns the value of an attribute, the first one of this name; empty if it has none.
    pub(crate) fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| decoded(value))
    }
}

/// Returns the tags of a page. Comments and texts have none; a tag without its end is none.
pub(crate) fn tags(html: &str) -> Vec<Tag<'_>> {
    let mut scanner = Scanner { html, at: 0 };
    let mut found = Vec::new();
    while let Some(tag) = scanner.next_tag() {
        if !tag.is_end && RAW.contains(&tag.name.as_str()) {
            scanner.skip_text(&tag.name);
        }
        found.push(tag);
    }
    found
}

struct Scanner<'a> {
    html: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.html[self.at..]
    }

    fn next_tag(&mut self) -> Option<Tag<'a>> {
        loop {
            self.at += self.rest().find('<')?;
            let at = self.at;
            let inner = &self.rest()[1..];
            let is_end = inner.starts_with('/');
            let name = &inner[usize::from(is_end)..];
            if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
                self.at += 1 + usize::from(is_end);
                let name = self.take(|c| is_space(c) || c == '/' || c == '>').to_ascii_lowercase();
                return Some(Tag { at, name, is_end, attributes: self.attributes()? });
            }
            self.skip_markup(inner);
        }
    }

    /// Skips a comment, a doctype or a `<` that is text.
    fn skip_markup(&mut self, inner: &str) {
        let after = |text: &str, end: &str| text.find(end).map_or(text.len(), |at| at + end.len());
        let length = match inner.strip_prefix("!--") {
            Some(comment) if comment.starts_with('>') => 4,
            Some(comment) if comment.starts_with("->") => 5,
            Some(comment) => 3 + after(comment, "-->").min(after(comment, "--!>")),
            None if inner.starts_with(['!', '?', '/']) => after(inner, ">"),
            None => 0,
        };
        self.at += 1 + length;
    }

    /// Skips the text of an element up to its end tag.
    fn skip_text(&mut self, name: &str) {
        let text = self.rest();
        let ends = text.match_indices("</").map(|(at, _)| at).find(|at| {
            let end = text.as_bytes().get(at + 2..at + 2 + name.len());
            let next = text[at + 2..].chars().nth(name.len());
            end.is_some_and(|end| end.eq_ignore_ascii_case(name.as_bytes()))
                && next.is_some_and(|c| is_space(c) || c == '/' || c == '>')
        });
        self.at += ends.unwrap_or(text.len());
    }

    /// Reads the attributes up to the end of the tag; `None` if it has no end.
    fn attributes(&mut self) -> Option<Vec<(String, &'a str)>> {
        let mut attributes = Vec::new();
        loop {
            self.take(|c| !is_space(c) && c != '/');
            if self.rest().chars().next()? == '>' {
                self.at += 1;
                return Some(attributes);
            }
            let start = self.at;
            self.at += self.rest().chars().next()?.len_utf8(); // a name may begin with `=`
            self.take(|c| is_space(c) || matches!(c, '/' | '>' | '='));
            let name = self.html[start..self.at].to_ascii_lowercase();
            self.take(|c| !is_space(c));
            attributes.push((name, self.value()?));
        }
    }

    /// Reads the value of an attribute; empty without a `=`.
    fn value(&mut self) -> Option<&'a str> {
        if !self.rest().starts_with('=') {
            return Some("");
        }
        self.at += 1;
        self.take(|c| !is_space(c));
        let Some(quote) = self.rest().chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            return Some(self.take(|c| is_space(c) || c == '>'));
        };
        self.at += 1;
        let value = self.take(|c| c == quote);
        self.rest().starts_with(quote).then(|| self.at += 1)?;
        Some(value)
    }

    /// Takes the text up to the first character that ends it.
    fn take(&mut self, ends: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(ends).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }
}

const fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

/// Replaces the character references of a value: numbers, and the names of markup.
fn decoded(value: &str) -> Cow<'_, str> {
    if !value.contains('&') {
        return value.into();
    }
    let mut text = String::with_capacity(value.len());
    let mut parts = value.split('&');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let reference = part.split_once(';').and_then(|(name, rest)| Some((referred(name)?, rest)));
        let (c, rest) = reference.unwrap_or(('&', part));
        text.push(c);
        text.push_str(rest);
    }
    text.into()
}

fn referred(name: &str) -> Option<char> {
    let number = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        },
        None => {
            return [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\'')]
                .into_iter()
                .find_map(|(known, c)| (known == name).then_some(c));
        }
    };
    char::from_u32(number.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the tags of a page in one way.
    fn read(html: &str) -> String {
        let written = |tag: Tag<'_>| {
            let attributes =
                tag.attributes.iter().map(|(name, _)| format!(" {name}={}", tag.get(name).unwrap()));
            let attributes: String = attributes.collect();
            format!("{}{}{attributes}", if tag.is_end { "/" } else { "" }, tag.name)
        };
        tags(html).into_iter().map(written).collect::<Vec<_>>().join(";")
    }

    #[test]
    fn tags_are_those_that_a_browser_finds() {
        for (html, expected) in [
            ("<a>x</A >", "a;/a"),
            ("<FORM Method=POST>", "form method=POST"),
            ("<form\n\tmethod = 'a b'\nid=\"c>d\">", "form method=a b id=c>d"),
            ("<form/method=post/action=x>", "form method=post/action=x"),
            ("<form/method='post'/action=x>", "form method=post action=x"),
            ("<input disabled value=>", "input disabled= value="),
            ("<a b=1 B=2>", "a b=1 b=1"),
            ("<a =b=c>", "a =b=c"),
            ("<a b=\"&amp;&#112;&#x6F;&lt;&nope;&\">", "a b=&po<&nope;&"),
            ("<!-- <a> --><b><!--><c><!---><d><!-- > --!><e>", "b;c;d;e"),
            ("<!doctype html><?x <a>><p>1 < 2 <3</><b>", "p;b"),
            ("<script><a></script ><title><b></TITLE><i>", "script;/script;title;/title;i"),
            ("<textarea></textareas><a></textarea/><b>", "textarea;/textarea;b"),
            ("<style><a>", "style"),
            ("<a b=\"c>", ""),
            ("<a", ""),
            ("<é><a é=ä>", "a é=ä"),
        ] {
            assert_eq!(read(html), expected, "{html}");
        }
    }
}
