//! Tests of every mail in every language: no text is missing, lines of the plain text are at most [`COLUMNS`]
//! wide, and the Markdown has the same structure as in English.

#![allow(clippy::unwrap_used)]

use unicode_width::UnicodeWidthStr;

use super::*;
use crate::template::{embedded, names};
use crate::wrap::COLUMNS;

/// Calls `check` with every mail in every language, with and without the optional fields.
fn each(check: impl Fn(Template, &str, &MailContext, &Rendered)) {
    let templates = Templates::embedded().unwrap();
    for locale in templates.locales() {
        for template in Template::ALL {
            for full in [true, false] {
                let context = sample(full);
                let mail = templates.render(*template, &[locale], &context);
                let mail = mail.map_err(|error| error.to_string()).unwrap();
                check(*template, locale.as_str(), &context, &mail);
            }
        }
    }
}

/// Returns the template tags of a source, sorted.
fn tags(source: &str) -> Vec<&str> {
    let mut tags: Vec<&str> =
        source.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(tag, _)| tag).collect();
    tags.sort_unstable();
    tags
}

/// Returns the Markdown mark or template tag at the beginning of each line of a source, such as `##`.
fn structure(source: &str) -> Vec<&'static str> {
    let marks = ["###", "##", "#", ">", "-", "    {{", "[", "{% include", "{% if", "{% e"];
    let is_mark = |line: &str, mark: &str| {
        line.starts_with(mark) && (!mark.starts_with("{%") || line.matches("{%").count() == 1)
    };
    let mark = |line: &str| marks.into_iter().find(|mark| is_mark(line, mark)).unwrap_or("words");
    source.lines().map(|line| if line.is_empty() { "" } else { mark(line) }).collect()
}

#[test]
fn every_translation_has_the_structure_and_the_variables_of_the_english_text() {
    for language in LANGUAGES {
        for name in names().filter(|name| *name != WORDS) {
            let (english, text) = (embedded("en", name).unwrap(), embedded(language, name).unwrap());
            assert_eq!(tags(text), tags(english), "{language}/{name}");
            assert_eq!(structure(text), structure(english), "{language}/{name}");
        }
    }
}

#[test]
fn words_of_a_translation_cannot_be_taken_for_html() {
    for language in LANGUAGES {
        for name in names() {
            let text = embedded(language, name).unwrap().replace("{% include \"", "");
            for line in text.lines() {
                let words = line.strip_prefix("> ").unwrap_or(line);
                let words: String = words
                    .split('{')
                    .map(|part| part.rsplit_once('}').map_or(part, |(_, words)| words))
                    .collect();
                assert!(!words.contains(['<', '>', '&', '\'']), "{language}/{name}: {line}");
            }
        }
    }
}

#[test]
fn every_mail_is_whole_in_every_language() {
    each(|template, language, _, mail| {
        let place = format!("{language}/{}", template.name);
        for part in [&mail.subject, &mail.text, &mail.html] {
            for unfilled in ["{{", "{%", "}}", "%}", "**", "none", "None"] {
                assert!(
                    !part.contains(unfilled) || unfilled == "none" && part.contains("display:none"),
                    "{place}: {unfilled} in {part}"
                );
            }
        }
        assert!(mail.html.contains(&format!("<html lang=\"{language}\">")), "{place}");
        assert!(mail.subject.contains("Latchkey") && mail.text.contains("Latchkey"), "{place}");
        assert!(mail.subject.width() <= COLUMNS, "{place}: {}", mail.subject);
        assert!(mail.text.contains("\n\n-- \n") && !mail.text.contains("\n\n\n"), "{place}: {}", mail.text);
    });
}

#[test]
fn no_line_of_a_text_part_is_wider_than_72_columns() {
    let templates = Templates::embedded().unwrap();
    each(|template, language, context, mail| {
        let long = MailContext {
            service_name: "Customer portal of the public utilities of the north-east".to_owned(),
            recipient_name: Some(
                "María del Carmen Fernández-Villaverde y Ortiz de Zárate Quiñones".to_owned(),
            ),
            ..context.clone()
        };
        let locale = Locale::parse(language).unwrap();
        let longer = templates.render(template, &[&locale], &long);
        let longer = longer.map_err(|error| error.to_string()).unwrap();
        for line in mail.text.lines().chain(longer.text.lines()).filter(|line| !line.starts_with("https://"))
        {
            assert!(line.width() <= COLUMNS, "{language}/{}: {line}", template.name);
        }
    });
}

#[test]
fn french_marks_keep_a_no_break_space() {
    for name in names() {
        let text = embedded("fr", name).unwrap();
        for mark in [" ?", " !", " ;", " :", " »", "« "] {
            assert!(!text.contains(mark), "fr/{name}: {mark}");
        }
    }
}

#[test]
fn a_mail_has_its_own_code_and_link_alone() {
    use crate::template::Need;

    each(|template, language, context, mail| {
        let html = mail.html.replace("&#x2f;", "/");
        let undo = context.event.undo.as_ref().map(|undo| undo.link.clone());
        let is_undoable =
            ["two_step_on", "passkey_added", "email_changed", "deletion_scheduled"].contains(&template.name);
        for body in [&mail.text, &html] {
            let place = format!("{language}/{}: {body}", template.name);
            let has_code = body.replace("0123456789", "").contains("123456");
            assert_eq!(has_code, template.need.has_code(), "{place}");
            let has_link = body.contains(context.link.as_deref().unwrap());
            assert!(
                if has_link { template.need.may_have_link() } else { template.need != Need::Link },
                "{place}"
            );
            assert_eq!(
                undo.as_ref().is_some_and(|undo| body.contains(undo)),
                undo.is_some() && is_undoable,
                "{place}"
            );
            assert!(body.contains("2026-03-02 10:04 UTC"), "{place}");
        }
    });
}

#[test]
fn numbers_have_their_plural_in_every_language() {
    let templates = Templates::embedded().unwrap();
    let verify = Template::of(MailKind::Verify, true);
    for locale in templates.locales() {
        for (minutes, number) in [(1, "1"), (10, "10"), (60, "1"), (1440, "24")] {
            let context = MailContext { expires_in_minutes: minutes, ..sample(false) };
            let mail =
                templates.render(verify, &[locale], &context).map_err(|error| error.to_string()).unwrap();
            assert!(mail.text.contains(number), "{locale:?} {minutes}: {}", mail.text);
        }
    }
}
