//! Conversion of mail texts, which are written in a subset of Markdown with template tags. One source file
//! yields the templates of subject, plain text and HTML, so that a translation is one file per mail.
//!
//! Each line is a whole block, such as a paragraph or heading. [`Line`] lists the kinds of blocks.

/// Kind of a line, with its content.
#[derive(Clone, Copy)]
enum Line<'a> {
    /// `# …`, the first line of a mail.
    Subject(&'a str),
    /// `## …`, the heading of the HTML.
    Heading(&'a str),
    /// `### …`, shown beside the subject in the list of an inbox.
    Preview(&'a str),
    /// `{% … %}` alone on a line.
    Tag(&'a str),
    /// `{% include "…" %}` alone on a line. The name has no ending.
    Include(&'a str),
    /// `- …`, an item of a list of facts. Successive items without a blank line between them are in one box
    /// in the HTML.
    Item(&'a str),
    /// `> …`, a warning.
    Warning(&'a str),
    /// Four spaces and the code.
    Code(&'a str),
    /// `[label]({{ link }})`: a button in the HTML, and the link alone in the plain text. Omitted if the mail has no
    /// link.
    Button(&'a str),
    /// `[label]({{ undo_link }})`: an outlined button in the HTML, and the link alone in the plain text.
    UndoButton(&'a str),
    Paragraph(&'a str),
}

/// Line above the signature of a plain text (RFC 3676, 4.3). The space belongs to it.
pub(crate) const SIGNATURE: &str = "-- ";

const BUTTON_END: &str = "]({{ link }})";
const UNDO_BUTTON_END: &str = "]({{ undo_link }})";

impl<'a> Line<'a> {
    fn read(line: &'a str) -> Self {
        let between = |start, end| line.strip_prefix(start).and_then(|rest: &str| rest.strip_suffix(end));
        if let Some(name) = between("{% include \"", "\" %}") {
            return Self::Include(name);
        }
        if line.matches("{%").count() == 1 && line.starts_with("{%") && line.ends_with("%}") {
            return Self::Tag(line);
        }
        if let Some(label) = between("[", BUTTON_END) {
            return Self::Button(label);
        }
        if let Some(label) = between("[", UNDO_BUTTON_END) {
            return Self::UndoButton(label);
        }
        line.split_once(' ').map_or(Self::Paragraph(line), |(mark, words)| match mark {
            "#" => Self::Subject(words),
            "##" => Self::Heading(words),
            "###" => Self::Preview(words),
            "-" => Self::Item(words),
            ">" => Self::Warning(words),
            "" => Self::Code(words.trim_start()),
            _ => Self::Paragraph(line),
        })
    }
}

/// Makes the template of the subject; empty if the source is not a mail.
pub(crate) fn subject(source: &str) -> String {
    match source.lines().next().map(Line::read) {
        Some(Line::Subject(words)) => words.to_owned(),
        _ => String::new(),
    }
}

/// Makes the template of the plain text. The template engine removes the line break after a tag, so a blank line
/// after a tag is written as three line breaks.
pub(crate) fn text(source: &str) -> String {
    let mut text = String::new();
    for chunk in chunks(source) {
        for line in chunk.lines().map(Line::read) {
            match line {
                Line::Subject(_) => text += "{% filter wrap %}{{ greeting }}{% endfilter %}\n\n\n",
                Line::Tag(tag) => text.extend([tag, "\n"]),
                Line::Include(name) => {
                    text.extend(["{% filter trim %}{% include \"", name, ".txt\" %}{% endfilter %}\n\n\n"]);
                }
                Line::Item(words) => text.extend([&without_bold(words), "\n"]),
                Line::Code(code) => text.extend(["    ", code, "\n\n"]),
                Line::Button(_) => text += "{% if link %}\n{{ link }}\n\n{% endif %}\n",
                Line::UndoButton(_) => text += "{{ undo_link }}\n\n",
                Line::Warning(words) | Line::Paragraph(words) => {
                    text.extend(["{% filter wrap %}", &without_bold(words), "{% endfilter %}\n\n\n"]);
                }
                Line::Heading(_) | Line::Preview(_) => {}
            }
        }
        if is_list(chunk) {
            text.push('\n');
        }
    }
    if !subject(source).is_empty() {
        text.extend([SIGNATURE, "\n{% filter wrap %}{{ sent_by }}{% endfilter %}\n"]);
    }
    text
}

/// Makes the template of the HTML, which fills the blocks of `layout.html`. The layout prints code and button between
/// its blocks `intro` and `notes`.
pub(crate) fn html(source: &str) -> String {
    let mut head = String::new();
    let mut blocks = vec![String::new()];
    for chunk in chunks(source) {
        if is_list(chunk) {
            push(&mut blocks, &[BOX]);
        }
        for (index, line) in chunk.lines().map(Line::read).enumerate() {
            match line {
                Line::Subject(_) => head += "{% extends \"layout.html\" %}\n",
                Line::Heading(words) => head += &block("heading", &marked_up(words)),
                Line::Preview(words) => head += &block("preheader", words),
                Line::Button(label) => {
                    head += &block("button", label);
                    start_notes(&mut blocks);
                }
                Line::Code(_) => start_notes(&mut blocks),
                Line::Tag(tag) => push(&mut blocks, &[tag, "\n"]),
                Line::Include(name) => push(&mut blocks, &["{% include \"", name, ".html\" %}\n"]),
                Line::Item(words) => {
                    push(&mut blocks, &[if index == 0 { "" } else { "<br>" }, &marked_up(words), "\n"]);
                }
                Line::Warning(words) => push(&mut blocks, &[WARNING, &marked_up(words), "</p>\n"]),
                Line::UndoButton(label) => push(&mut blocks, &[UNDO, label, UNDO_END]),
                Line::Paragraph(words) => push(&mut blocks, &[PARAGRAPH, &marked_up(words), "</p>\n"]),
            }
        }
        if is_list(chunk) {
            push(&mut blocks, &["</p>\n"]);
        }
    }
    if head.is_empty() {
        return blocks.concat();
    }
    let named = ["intro", "notes"].into_iter().zip(&blocks);
    head + &named.map(|(name, content)| block(name, content)).collect::<String>()
}

/// Times, and words with a hyphen, within which no line ends.
const UNBROKEN: [&str; 7] =
    ["{{ time }}", "{{ undo_until }}", "{{ expires_in }}", "e-mail", "E-mail", "E-Mail", "sign-in"];
/// A line may end after each colon of an IPv6 address, but nowhere else in it.
const ADDRESS: (&str, &str) = ("{{ address }}", "{{ address|breakable }}");
const PARAGRAPH: &str = r#"<p style="margin:0 0 16px;">"#;
const WARNING: &str =
    r#"<p class="warning" style="margin:0 0 16px;padding:4px 0 4px 14px;border-left:4px solid #b7791f;">"#;
/// The outlined button. The layout has the full one, and the same help below it.
const UNDO: &str = r#"<p style="margin:24px 0;text-align:center;"><a class="outlined" href="{{ undo_link }}" style="display:inline-block;padding:12px 26px;border:2px solid #1d4ed8;border-radius:6px;color:#1d4ed8;font-size:16px;font-weight:600;text-decoration:none;">"#;
const UNDO_END: &str = r#"</a></p>
<p class="quiet" style="margin:0 0 16px;color:#525c69;font-size:14px;">{{ button_help }}<br><span style="font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace;font-size:13px;word-break:break-all;">{{ undo_link }}</span></p>
"#;
const BOX: &str = r#"<p class="box" style="margin:24px 0;padding:14px 16px;background:#f2f4f7;border:1px solid #c4cbd4;border-radius:6px;color:#101828;font-size:15px;line-height:1.6;text-align:left;">"#;

/// Iterates over the parts of a source between blank lines.
fn chunks(source: &str) -> impl Iterator<Item = &str> {
    source.split("\n\n").filter(|chunk| !chunk.trim().is_empty())
}

fn is_list(chunk: &str) -> bool {
    chunk.lines().any(|line| matches!(Line::read(line), Line::Item(_)))
}

fn push(blocks: &mut [String], parts: &[&str]) {
    if let Some(last) = blocks.last_mut() {
        last.extend(parts.iter().copied());
    }
}

/// Begins the layout block `notes`, which holds what follows the code or button.
fn start_notes(blocks: &mut Vec<String>) {
    if blocks.len() == 1 {
        blocks.push(String::new());
    }
}

fn block(name: &str, content: &str) -> String {
    format!("{{% block {name} %}}{content}{{% endblock %}}\n")
}

fn without_bold(words: &str) -> String {
    words.replace("**", "")
}

/// Converts bold words, keeps those of [`UNBROKEN`] on one line, and breaks an address at its colons.
fn marked_up(words: &str) -> String {
    let mut words = words.replace(ADDRESS.0, ADDRESS.1);
    for whole in UNBROKEN {
        words = words.replace(whole, &format!("<span style=\"white-space:nowrap;\">{whole}</span>"));
    }
    let parts = words.split("**").enumerate();
    parts
        .map(
            |(index, part)| if index % 2 == 0 { part.to_owned() } else { format!("<strong>{part}</strong>") },
        )
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_a_hyphen_and_times_stay_on_one_line_of_the_html() {
        let source = "# Hej\n## E-Mail\n### x\n\nEn **e-mail** till {{ time }}.\n";
        let whole = |words| format!("<span style=\"white-space:nowrap;\">{words}</span>");
        for part in ["E-Mail", "e-mail", "{{ time }}"] {
            assert!(html(source).contains(&whole(part)), "{part}");
        }
        assert!(text(source).contains("En e-mail till {{ time }}."));
    }
}
