//! Finds functions in Rust source and counts their lines, from `fn` to the closing brace. It knows
//! comments, texts and braces, and nothing else of the language; that is enough for counting.

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    /// The line of `fn`, from 1.
    pub(super) line: usize,
    pub(super) lines: usize,
}

/// All functions of a source text, inner ones and those within macros included.
pub(super) fn of(source: &str) -> Vec<Function> {
    let mut finder = Finder::default();
    let plain = blank_out(source);
    let mut rest = plain.as_str();
    while let Some(c) = rest.chars().next() {
        let word_end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let taken = if word_end > 0 { word_end } else { c.len_utf8() };
        finder.token(&rest[..taken]);
        rest = &rest[taken..];
    }
    finder.found.sort_by_key(|function| function.line);
    finder.found
}

/// Where the reader stands after `fn`.
#[derive(Default)]
enum Head {
    #[default]
    None,
    /// `fn` at this line; a name makes it a function, anything else a type.
    Keyword(usize),
    /// Name and line; the body is the first brace outside of parentheses and brackets.
    Named(String, usize),
}

#[derive(Default)]
struct Finder {
    line: usize,
    head: Head,
    /// Open parentheses and brackets since the head began.
    nesting: usize,
    /// One for each open brace: the function that it is the body of, if any.
    braces: Vec<Option<(String, usize)>>,
    found: Vec<Function>,
}

impl Finder {
    fn token(&mut self, token: &str) {
        match token {
            "\n" => self.line += 1,
            "fn" => self.begin_head(),
            "(" | "[" => self.nesting += 1,
            ")" | "]" => self.nesting = self.nesting.saturating_sub(1),
            "{" => self.open(),
            "}" => self.close(),
            // A declaration without a body.
            ";" if self.nesting == 0 => self.head = Head::None,
            _ if token.trim().is_empty() => {}
            _ => self.name(token),
        }
    }

    /// A `fn` within a head is a type: `fn map(f: fn(u8) -> u8)`.
    fn begin_head(&mut self) {
        if !matches!(self.head, Head::Named(..)) {
            self.head = Head::Keyword(self.line + 1);
            self.nesting = 0;
        }
    }

    fn name(&mut self, token: &str) {
        let Head::Keyword(line) = self.head else { return };
        let is_name = token.starts_with(|c: char| is_word(c) && !c.is_ascii_digit());
        self.head = if is_name { Head::Named(token.to_owned(), line) } else { Head::None };
    }

    fn open(&mut self) {
        if let Head::Named(..) = self.head
            && self.nesting > 0
        {
            // A block within a type, such as an array length.
            self.braces.push(None);
            return;
        }
        let body = match std::mem::take(&mut self.head) {
            Head::Named(name, line) => Some((name, line)),
            _ => None,
        };
        self.braces.push(body);
    }

    fn close(&mut self) {
        if let Some(Some((name, line))) = self.braces.pop() {
            self.found.push(Function { name, line, lines: self.line + 2 - line });
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The source with comments, texts and characters blanked out, line by line as long as before.
fn blank_out(source: &str) -> String {
    let mut plain = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let skipped = length_of_text(rest, plain.chars().next_back());
        let taken = if skipped > 0 { skipped } else { c.len_utf8() };
        if skipped > 0 {
            plain.extend(rest[..taken].chars().map(|c| if c == '\n' { c } else { ' ' }));
        } else {
            plain.push(c);
        }
        rest = &rest[taken..];
    }
    plain
}

/// How many bytes at the start of `rest` are a comment, a text or a character; 0 where none is.
fn length_of_text(rest: &str, before: Option<char>) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return length_of_block_comment(rest);
    }
    if rest.starts_with('"') {
        return length_of_quoted(rest);
    }
    if rest.starts_with('\'') {
        return length_of_character(rest);
    }
    let starts_word = !before.is_some_and(is_word);
    if starts_word { length_of_raw_text(rest) } else { 0 }
}

fn length_of_block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        let tail = &rest.as_bytes()[at..];
        if tail.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if tail.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn length_of_quoted(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// A character such as `'{'` or `'\''`, and not a lifetime.
fn length_of_character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, _))) => rest[at + 1..].find('\'').map_or(0, |end| at + 1 + end + 1),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}

/// `r"…"`, `r#"…"#`, `br"…"`: no escapes, and as many `#` behind as before.
fn length_of_raw_text(rest: &str) -> usize {
    let Some(raw) = ["r", "br", "cr"].iter().find_map(|prefix| rest.strip_prefix(prefix)) else { return 0 };
    let text = raw.trim_start_matches('#');
    let hashes = raw.len() - text.len();
    let Some(inner) = text.strip_prefix('"') else { return 0 };
    let close = format!("\"{}", "#".repeat(hashes));
    let end = inner.find(&close).map_or(inner.len(), |at| at + close.len());
    rest.len() - inner.len() + end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions(source: &str) -> Vec<(String, usize, usize)> {
        of(source).into_iter().map(|function| (function.name, function.line, function.lines)).collect()
    }

    #[test]
    fn lines_count_from_fn_to_the_closing_brace() {
        let source = "/// Doc.\npub async fn a(\n    b: u8,\n) -> u8 {\n    b\n}\n\nfn c() {}\n";
        assert_eq!(functions(source), [("a".to_owned(), 2, 5), ("c".to_owned(), 8, 1)]);
    }

    #[test]
    fn inner_functions_and_methods_count_too() {
        let source = "impl A {\n fn outer() {\n  fn inner() {\n  }\n }\n}";
        assert_eq!(functions(source), [("outer".to_owned(), 2, 4), ("inner".to_owned(), 3, 2)]);
    }

    #[test]
    fn types_and_declarations_are_no_functions() {
        let source =
            "type F = fn(u8) -> u8;\ntrait T { fn declared(&self, a: [u8; 3]); }\nstruct S { f: fn() }";
        assert_eq!(functions(source), []);
        assert_eq!(functions("fn map(f: fn(u8) -> u8) { f(1); }"), [("map".to_owned(), 1, 1)]);
        assert_eq!(functions("fn sized() -> [u8; { 1 + 1 }] {\n}"), [("sized".to_owned(), 1, 2)]);
    }

    #[test]
    fn braces_in_texts_comments_and_characters_do_not_count() {
        let bodies = [
            r#""}""#,
            r#""\"}""#,
            r##"r#"" } "#"##,
            "'}'",
            r"'\''; '{'",
            r"'\u{7d}'",
            "// }",
            "/* } /* } */ } */",
            r#"b"}""#,
            "x::<'a>()",
        ];
        for body in bodies {
            let source = format!("fn a() {{\n{body}\n}}\nfn b() {{}}\n");
            assert_eq!(functions(&source), [("a".to_owned(), 1, 3), ("b".to_owned(), 4, 1)], "{body}");
        }
    }

    #[test]
    fn functions_within_macros_are_found() {
        let source = "proptest! {\n #[test]\n fn holds(x in 0..9u8) {\n  x;\n }\n}";
        assert_eq!(functions(source), [("holds".to_owned(), 3, 3)]);
    }

    #[test]
    fn broken_source_does_not_panic() {
        for source in ["fn", "fn a() {", "}}}", "\"", "'", "/*", "r#\"", "fn é() {'", "'\\"] {
            let _ = of(source);
        }
    }
}
