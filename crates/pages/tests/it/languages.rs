//! Pages in every language.

use std::collections::BTreeSet;
use std::fmt::Write;

use latchkey_pages::{Languages, Pages, Person, Theme};

use crate::support::{pages, shown, site};

#[test]
fn every_state_renders_in_every_language() {
    let pages = pages();
    for language in pages.languages().all() {
        let direction = language.catalogue().direction();
        for page in shown(&pages, &language.tag, &Person::plain()) {
            let head = format!("<html lang=\"{}\" dir=\"{direction}\">", language.tag);
            assert!(page.html.contains(&head), "{} in {}", page.name, language.tag);
        }
    }
}

/// Texts that only some distances and durations need.
const BY_TIME: [&str; 12] = [
    "time.moment",
    "time.now",
    "time.seconds",
    "time.minutes",
    "time.hours",
    "time.days",
    "time.minutes_ago",
    "time.hours_ago",
    "time.days_ago",
    "time.in_minutes",
    "time.in_hours",
    "time.in_days",
];

#[test]
fn every_text_is_shown_by_some_state() {
    // Given a language whose texts are their own keys
    let languages = Languages::built_in();
    let english = languages.choose(["en"]).catalogue();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("xx.toml"), keys_as_texts()).unwrap();
    let keys: BTreeSet<String> = english.keys().map(str::to_owned).collect();
    let languages = languages.with_folder(folder.path()).unwrap();
    let pages = Pages::new(site(), &Theme::default(), languages).unwrap();

    // When all states are shown in it
    let mut seen: BTreeSet<String> = BY_TIME.map(str::to_owned).into();
    for page in shown(&pages, "xx", &Person::plain()) {
        seen.extend(page.html.split('⟦').skip(1).filter_map(|part| Some(part.split_once('⟧')?.0.to_owned())));
    }

    // Then none is missing
    let unused: Vec<_> = keys.difference(&seen).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

/// Returns the English file with each text replaced by its key and its placeholders.
fn keys_as_texts() -> String {
    let mut group = "";
    let mut file = String::new();
    for line in include_str!("../../locales/en.toml").lines() {
        if let Some(name) = line.strip_prefix('[') {
            group = name.trim_end_matches(']');
        }
        match line.split_once(" = ") {
            Some((key, text)) if !group.is_empty() => {
                let placeholders: String = text.split('{').filter_map(|part| part.split_once('}')).fold(
                    String::new(),
                    |mut all, (name, _)| {
                        let placeholder = format!("{{{name}}}");
                        if !name.contains(' ') && !all.contains(&placeholder) {
                            all.push_str(&placeholder);
                        }
                        all
                    },
                );
                let own = format!("⟦{group}.{key}⟧{placeholders}");
                if text.starts_with('{') {
                    writeln!(file, "{key} = {{ other = \"{own}\" }}").unwrap();
                } else {
                    writeln!(file, "{key} = \"{own}\"").unwrap();
                }
            }
            _ => writeln!(file, "{line}").unwrap(),
        }
    }
    file
}

#[test]
fn a_text_in_plain_letters_stands_in_no_template() {
    // The pseudo-language has accents: three plain letters in a row come from a template or from the sample values.
    let person = Person::hostile("0");
    for page in shown(&pages(), "qps", &person) {
        let html = page.html.replace("Example", "");
        let body = html.split_once("<main").unwrap().1.split_once("</main>").unwrap().0;
        for part in body.split('<').skip(1) {
            let (tag, text) = part.split_once('>').unwrap();
            let is_sample = tag.starts_with("code")
                || tag.starts_with("/bdi")
                || tag.starts_with("pre")
                || tag.starts_with("bdi");
            let text =
                text.replace("&quot;", "").replace("&#39;", "").replace("&amp;", "").replace("UTC", "");
            let has_words = text.split(|c: char| !c.is_ascii_alphabetic()).any(|word| word.len() > 2);
            assert!(is_sample || !has_words, "{}: {part}", page.name);
        }
    }
}
