//! Rules that every page of the console keeps.

use std::collections::BTreeSet;

use latchkey_pages::console::{Console, Instance, Mode, all_states};
use latchkey_pages::{CONSOLE_CSS, CONSOLE_JS, Person, Theme};

use crate::support::{Shown, Tag, tags};

const KIB: usize = 1024;

pub(crate) fn console() -> Console {
    console_of("Example")
}

fn console_of(name: &str) -> Console {
    let instance = Instance { name: name.to_owned(), mode: Mode::Production, version: "1.2.3".to_owned() };
    Console::new(&instance, &Theme::default()).unwrap()
}

fn shown(console: &Console, person: &Person) -> Vec<Shown> {
    let show = |state: &latchkey_pages::console::State| {
        console.render(&state.frame, state.view.as_ref()).unwrap_or_else(|e| panic!("{}: {e}", state.name))
    };
    all_states(person).iter().map(|state| Shown { name: state.name, html: show(state) }).collect()
}

/// Runs a check on the tags of every state.
fn every(check: impl Fn(&str, &str, &[Tag])) {
    let console = console();
    for person in [Person::plain(), Person::long(), Person::right_to_left()] {
        for page in shown(&console, &person) {
            check(page.name, &page.html, &tags(&page.html));
        }
    }
}

#[test]
fn style_sheet_and_script_fit_their_budgets() {
    assert!(CONSOLE_CSS.len() <= 12 * KIB, "{}", CONSOLE_CSS.len());
    assert!(CONSOLE_JS.len() <= 14 * KIB, "{}", CONSOLE_JS.len());
}

#[test]
fn style_sheet_and_script_load_nothing_and_parse_no_markup() {
    assert!(!CONSOLE_CSS.contains("@import") && !CONSOLE_CSS.contains("url("));
    assert!(!CONSOLE_JS.contains("import ") && !CONSOLE_JS.contains("http:"));
    for sink in ["innerHTML", "outerHTML", "insertAdjacentHTML", "write(", "eval(", "Function(", "DOMParser"]
    {
        assert!(!CONSOLE_JS.contains(sink), "{sink}");
    }
}

#[test]
fn every_page_fits_96_kib_and_loads_two_files() {
    let prefix = format!("/assets/{}/", console().assets().digest());
    every(|name, html, tags| {
        assert!(html.len() <= 96 * KIB, "{name} has {} bytes", html.len());
        let loaded = |tag: &Tag| match tag.name.as_str() {
            "link" if tag.get("rel") != Some("icon") => tag.get("href").map(str::to_owned),
            "img" | "script" | "iframe" | "source" | "embed" | "object" => tag.get("src").map(str::to_owned),
            _ => None,
        };
        let loaded: Vec<String> = tags.iter().filter_map(loaded).collect();
        assert_eq!(loaded, ["console.css", "console.js"].map(|file| format!("{prefix}{file}")), "{name}");
    });
}

#[test]
fn nothing_is_inline() {
    every(|name, _, tags| {
        for tag in tags {
            assert!(tag.name != "style" && !tag.has("style"), "{name}: {tag:?}");
            assert!(tag.name != "script" || tag.has("src"), "{name}: {tag:?}");
            assert!(!tag.attributes.iter().any(|(key, _)| key.starts_with("on")), "{name}: {tag:?}");
            assert!(!["iframe", "object", "embed", "base", "img"].contains(&tag.name.as_str()), "{name}");
        }
    });
}

#[test]
fn every_form_that_acts_has_one_token_and_one_act() {
    every(|name, html, _| {
        for form in html.split("<form").skip(1) {
            let form = form.split_once("</form>").unwrap().0;
            let acts = form.contains("method=\"post\"");
            assert!(acts || form.contains("method=\"get\""), "{name}: {form}");
            let tokens = form.matches("name=\"form_token\"").count();
            assert_eq!(tokens, usize::from(acts), "{name}: {form}");
            let buttons = form.matches("<button").count() - form.matches("type=\"button\"").count();
            assert_eq!(buttons, 1, "{name}: {form}");
        }
    });
}

#[test]
fn every_page_has_one_heading_title_and_main_part() {
    every(|name, html, tags| {
        for element in ["h1", "title", "main", "header", "footer"] {
            assert_eq!(tags.iter().filter(|tag| tag.name == element).count(), 1, "{name}: {element}");
        }
        let title = html.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0;
        assert!(title.ends_with(" · Example") && !title.starts_with(' '), "{name}: {title}");
        assert!(html.contains("class=\"skip\" href=\"#main\""), "{name}");
    });
}

#[test]
fn ids_are_unique_and_references_lead_to_them() {
    every(|name, _, tags| {
        let mut ids = BTreeSet::new();
        for id in tags.iter().filter_map(|tag| tag.get("id")) {
            assert!(ids.insert(id), "{name}: {id} twice");
        }
        for tag in tags {
            for reference in [
                "for",
                "form",
                "aria-describedby",
                "aria-labelledby",
                "data-copy",
                "data-reveal",
                "data-live",
            ] {
                for id in tag.get(reference).unwrap_or_default().split(' ').filter(|id| !id.is_empty()) {
                    assert!(ids.contains(id), "{name}: {reference}={id}");
                }
            }
            if let Some(id) = tag.get("href").and_then(|href| href.strip_prefix('#')) {
                assert!(ids.contains(id), "{name}: #{id}");
            }
        }
    });
}

#[test]
fn every_field_has_a_label_and_no_placeholder() {
    every(|name, html, tags| {
        for tag in tags.iter().filter(|tag| ["input", "textarea", "select"].contains(&tag.name.as_str())) {
            let kind = tag.get("type").unwrap_or_default();
            if kind == "hidden" || tag.has("hidden") || ["checkbox", "radio", "file"].contains(&kind) {
                continue;
            }
            let id = tag.get("id").unwrap_or_else(|| panic!("{name}: {tag:?}"));
            let is_for = |label: &&Tag| label.name == "label" && label.get("for") == Some(id);
            assert_eq!(tags.iter().filter(is_for).count(), 1, "{name}: {id}");
            assert!(!tag.has("placeholder") && tag.has("autocomplete"), "{name}: {id}");
        }
        for box_ in html.split("type=\"checkbox\"").skip(1) {
            let text = box_.split_once('>').unwrap().1.split_once("</label>").unwrap().0;
            assert!(!text.trim().is_empty(), "{name}");
        }
    });
}

#[test]
fn tables_have_scopes_and_a_named_scroll_region() {
    every(|name, html, tags| {
        let tables = tags.iter().filter(|tag| tag.name == "table").count();
        let regions = tags.iter().filter(|tag| {
            tag.get("class") == Some("scroll")
                && tag.has("aria-labelledby")
                && tag.get("tabindex") == Some("0")
        });
        assert_eq!(regions.count(), tables, "{name}");
        assert!(tags.iter().filter(|tag| tag.name == "th").all(|tag| tag.has("scope")), "{name}");
        for table in html.split("<table").skip(1) {
            let head = table.split_once("</thead>").unwrap_or_else(|| panic!("{name}: no head")).0;
            let row = table.split_once("<tbody>").unwrap().1.split_once("</tr>").unwrap().0;
            let cells = row.matches("<td").count() + row.matches("<th").count();
            assert_eq!(head.matches("<th ").count(), cells, "{name}");
        }
    });
}

#[test]
fn refusals_are_tied_to_their_fields() {
    every(|name, html, tags| {
        let wrong: Vec<_> = tags.iter().filter(|tag| tag.has("aria-invalid")).collect();
        for tag in &wrong {
            let fault = format!("{}-fault", tag.get("id").unwrap());
            assert!(tag.get("aria-describedby").unwrap().split(' ').any(|id| id == fault), "{name}");
        }
        let is_summary = |tag: &&Tag| tag.get("class") == Some("note danger") && tag.has("autofocus");
        let summaries = tags.iter().filter(is_summary).count();
        assert!(wrong.len() < 2 || summaries == 1, "{name}: more than one fault needs a summary");
        assert_eq!(html.contains("<title>Error · "), wrong.len() + summaries > 0, "{name}");
    });
}

#[test]
fn version_and_navigation_are_for_operators_alone() {
    for page in shown(&console(), &Person::plain()) {
        let is_inside = page.html.contains("<body class=\"console\">");
        assert_eq!(page.html.contains("1.2.3"), is_inside, "{}", page.name);
        assert_eq!(page.html.contains("class=\"places\""), is_inside, "{}", page.name);
        assert_eq!(page.html.contains("action=\"/console/sign-out\""), is_inside, "{}", page.name);
    }
}

/// Attempts to leave a text, an attribute, an address or a template.
const CORPUS: [&str; 9] = [
    "<script>alert(1)</script>",
    "\"><svg onload=alert(1)>",
    "' autofocus onfocus=alert(1) x='",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "--><script>alert(1)</script><!--",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "\u{0}<\u{0}script>alert(1)</script>",
];

fn structure(html: &str) -> Vec<String> {
    let names = |tag: Tag| {
        let attributes = tag.attributes.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ");
        format!("{} {attributes}", tag.name)
    };
    tags(html).into_iter().map(names).collect()
}

#[test]
fn hostile_texts_change_no_tag_and_no_attribute() {
    let plain = shown(&console(), &Person::hostile("text"));
    for text in CORPUS {
        for console in [console(), console_of(text)] {
            for (page, plain) in shown(&console, &Person::hostile(text)).iter().zip(&plain) {
                assert_eq!(structure(&page.html), structure(&plain.html), "{} with {text}", page.name);
                assert!(!page.html.contains("<script>"), "{} with {text}", page.name);
                let runs = |tag: Tag| tag.attributes.iter().any(|(name, value)| is_script(name, value));
                assert!(!tags(&page.html).into_iter().any(runs), "{} with {text}", page.name);
            }
        }
    }
}

fn is_script(name: &str, value: &str) -> bool {
    ["href", "src", "action", "formaction", "content"].contains(&name) && value.starts_with("javascript")
}

#[test]
fn controls_and_overrides_are_shown_as_signs() {
    let pages = shown(&console(), &Person::hostile("a\u{202e}b\u{2066}c\u{1b}d"));
    for page in &pages {
        // What is typed into a field stays as it is, for the one who typed it.
        for part in page.html.split('<') {
            let is_field = part.starts_with("input ") || part.starts_with("textarea ");
            assert!(is_field || !part.contains(['\u{202e}', '\u{2066}', '\u{1b}']), "{}: <{part}", page.name);
        }
    }
    assert!(pages.iter().any(|page| page.html.contains("a⟨U+202E⟩b⟨U+2066⟩c␛d")));
}
