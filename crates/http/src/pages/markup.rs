//! Markup in which text cannot become markup: every text goes in escaped, only the tags are written here.

/// HTML in the making. Each method adds one element at the end.
#[derive(Default)]
pub struct Markup(String);

impl Markup {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A paragraph.
    #[must_use]
    pub fn paragraph(self, text: &str) -> Self {
        self.element("p", text)
    }

    /// Text with its line breaks, in a monospace box.
    #[must_use]
    pub fn preformatted(self, text: &str) -> Self {
        self.element("pre", text)
    }

    /// A paragraph that is a link. `href` is a path of this service: one that does not begin with a single `/` is
    /// shown as text, so that no scheme can slip in.
    #[must_use]
    pub fn link(mut self, href: &str, text: &str) -> Self {
        self.push(&["<p>", &anchor(href, text), "</p>\n"]);
        self
    }

    /// A list of short lines.
    #[must_use]
    pub fn list(mut self, lines: &[&str]) -> Self {
        self.0.push_str("<ul>\n");
        for line in lines {
            self = self.element("li", line);
        }
        self.0.push_str("</ul>\n");
        self
    }

    /// A button that posts one field to a path of this service.
    #[must_use]
    pub fn button(mut self, action: &str, (name, value): (&str, &str), text: &str) -> Self {
        let (action, name, value, text) = (escape(action), escape(name), escape(value), escape(text));
        self.push(&["<form method=\"post\" action=\"", &action, "\">\n"]);
        self.push(&["<input type=\"hidden\" name=\"", &name, "\" value=\"", &value, "\">\n"]);
        self.push(&["<button>", &text, "</button>\n</form>\n"]);
        self
    }

    /// A small paragraph in a fainter colour.
    #[must_use]
    pub fn quiet(mut self, text: &str) -> Self {
        self.push(&["<p class=\"quiet\">", &escape(text), "</p>\n"]);
        self
    }

    /// A list of links, each with a line about it: path, text, line. A path as for [`Self::link`].
    #[must_use]
    pub fn links(mut self, links: &[(&str, &str, &str)]) -> Self {
        self.0.push_str("<ul class=\"links\">\n");
        for (href, text, about) in links.iter().filter(|(href, ..)| is_own_path(href)) {
            let (href, text, about) = (escape(href), escape(text), escape(about));
            self.push(&[
                "<li><a href=\"",
                &href,
                "\"><b>",
                &text,
                "</b><span>",
                &about,
                "</span></a></li>\n",
            ]);
        }
        self.0.push_str("</ul>\n");
        self
    }

    /// A table: the heads of its columns and its rows. A cell is markup of its own.
    #[must_use]
    pub fn table(mut self, heads: &[&str], rows: impl IntoIterator<Item = Vec<Cell>>) -> Self {
        self.0.push_str("<table>\n<thead><tr>");
        for head in heads {
            self = self.inline("th", head);
        }
        self.0.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            self.0.push_str("<tr>");
            for cell in row {
                self.push(&["<td>", &cell.html(), "</td>"]);
            }
            self.0.push_str("</tr>\n");
        }
        self.0.push_str("</tbody>\n</table>\n");
        self
    }

    /// The HTML so far.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn element(mut self, tag: &str, text: &str) -> Self {
        self = self.inline(tag, text);
        self.0.push('\n');
        self
    }

    fn inline(mut self, tag: &str, text: &str) -> Self {
        self.push(&["<", tag, ">", &escape(text), "</", tag, ">"]);
        self
    }

    fn push(&mut self, parts: &[&str]) {
        self.0.extend(parts.iter().copied());
    }
}

/// One cell of a table.
pub enum Cell {
    /// Plain text.
    Text(String),
    /// A link to a path of this service.
    Link {
        /// The path; see [`Markup::link`].
        href: String,
        /// The text of the link.
        text: String,
    },
}

impl Cell {
    fn html(&self) -> String {
        match self {
            Self::Text(text) => escape(text),
            Self::Link { href, text } => anchor(href, text),
        }
    }
}

/// A link to a path of this service, or its text alone.
fn anchor(href: &str, text: &str) -> String {
    let text = escape(text);
    if is_own_path(href) { format!("<a href=\"{}\">{text}</a>", escape(href)) } else { text }
}

fn is_own_path(href: &str) -> bool {
    href.starts_with('/') && !href.starts_with("//") && !href.starts_with("/\\")
}

/// The text for an element or a quoted attribute.
#[must_use]
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_own_paths_alone() {
        assert_eq!(Markup::new().link("/a?b=\"", "x").as_str(), "<p><a href=\"/a?b=&quot;\">x</a></p>\n");
        for href in ["javascript:alert(1)", "//evil.example", "/\\evil.example", "https://evil.example", ""] {
            assert_eq!(Markup::new().link(href, "x").as_str(), "<p>x</p>\n", "{href}");
        }
    }

    #[test]
    fn cells_are_escaped() {
        let table = Markup::new().table(&["<a>"], [vec![Cell::Text("<b>".into())]]);
        assert!(table.as_str().contains("<th>&lt;a&gt;</th>"));
        assert!(table.as_str().contains("<td>&lt;b&gt;</td>"));
    }
}
