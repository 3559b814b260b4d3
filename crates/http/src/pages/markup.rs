//! HTML builder. It escapes all text, so text never becomes markup.

/// HTML under construction. Each method appends one element.
#[derive(Default)]
pub struct Markup(String);

impl Markup {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn paragraph(self, text: &str) -> Self {
        self.element("p", text)
    }

    /// Appends text with its line breaks, in a monospace box.
    #[must_use]
    pub fn preformatted(self, text: &str) -> Self {
        self.element("pre", text)
    }

    /// Appends a paragraph with a link. `href` must be a path of this service, with a single `/` at the start; for any
    /// other value the text appears without a link.
    #[must_use]
    pub fn link(mut self, href: &str, text: &str) -> Self {
        self.push(&["<p>", &anchor(href, text), "</p>\n"]);
        self
    }

    /// Appends a bulleted list.
    #[must_use]
    pub fn list(mut self, lines: &[&str]) -> Self {
        self.0.push_str("<ul>\n");
        for line in lines {
            self = self.element("li", line);
        }
        self.0.push_str("</ul>\n");
        self
    }

    /// Appends a button that posts one field to a path of this service.
    #[must_use]
    pub fn button(self, action: &str, (name, value): (&str, &str), text: &str) -> Self {
        self.form(action, &[Field::Hidden { name, value }], text)
    }

    /// Appends a form with a button that posts its fields to a path of this service.
    #[must_use]
    pub fn form(mut self, action: &str, fields: &[Field<'_>], button: &str) -> Self {
        self.push(&["<form method=\"post\" action=\"", &escape(action), "\">\n"]);
        for field in fields {
            self.0.push_str(&field.html());
        }
        self.push(&["<button>", &escape(button), "</button>\n</form>\n"]);
        self
    }

    /// Appends a paragraph that screen readers announce at once (`role="alert"`).
    #[must_use]
    pub fn alert(mut self, text: &str) -> Self {
        self.push(&["<p class=\"alert\" role=\"alert\">", &escape(text), "</p>\n"]);
        self
    }

    /// Appends a small paragraph in a fainter colour.
    #[must_use]
    pub fn quiet(mut self, text: &str) -> Self {
        self.push(&["<p class=\"quiet\">", &escape(text), "</p>\n"]);
        self
    }

    /// Appends a list of links, each with a description: (path, text, description). Paths are as in [`Self::link`].
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

/// A field of a form.
#[derive(Debug, Clone, Copy)]
pub enum Field<'a> {
    Hidden {
        name: &'a str,
        value: &'a str,
    },
    /// A text field, which must not be empty.
    Text {
        name: &'a str,
        label: &'a str,
        value: &'a str,
        /// The `type` of the input: `text` or `email`.
        kind: &'a str,
        /// The attribute `autocomplete`: what the browser may fill in, such as `email` or `one-time-code`.
        autocomplete: &'a str,
    },
}

impl Field<'_> {
    fn html(&self) -> String {
        match *self {
            Self::Hidden { name, value } => {
                format!("<input type=\"hidden\" name=\"{}\" value=\"{}\">\n", escape(name), escape(value))
            }
            Self::Text { name, label, value, kind, autocomplete } => format!(
                "<label>{}<input type=\"{kind}\" name=\"{}\" value=\"{}\" autocomplete=\"{autocomplete}\" \
                 autocapitalize=\"none\" spellcheck=\"false\" required></label>\n",
                escape(label),
                escape(name),
                escape(value)
            ),
        }
    }
}

/// Builds a link to a path of this service; the text alone if `href` is not such a path.
fn anchor(href: &str, text: &str) -> String {
    let text = escape(text);
    if is_own_path(href) { format!("<a href=\"{}\">{text}</a>", escape(href)) } else { text }
}

fn is_own_path(href: &str) -> bool {
    href.starts_with('/') && !href.starts_with("//") && !href.starts_with("/\\")
}

/// Escapes text for an element or a quoted attribute.
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
    fn fields_are_escaped() {
        let text =
            Field::Text { name: "a", label: "<l>", value: "\"v", kind: "email", autocomplete: "email" };
        let form = Markup::new().form("/x", &[Field::Hidden { name: "t", value: "'" }, text], "<go>");
        for part in
            ["value=\"&#39;\"", "<label>&lt;l&gt;<input type=\"email\"", "value=\"&quot;v\"", "&lt;go&gt;"]
        {
            assert!(form.as_str().contains(part), "{part}: {}", form.as_str());
        }
    }

    #[test]
    fn descriptions_of_links_are_escaped() {
        let links = Markup::new().links(&[("/a", "<a>", "<b>"), ("//evil.example", "<c>", "<d>")]);
        assert!(links.as_str().contains("<b>&lt;a&gt;</b><span>&lt;b&gt;</span>"));
        assert!(!links.as_str().contains("evil"));
    }
}
