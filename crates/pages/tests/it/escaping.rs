//! Texts of people stay texts.

use latchkey_pages::{Languages, Links, Pages, Person, Site, Theme};

use crate::support::{pages, shown, tags};

/// Attempts to leave a text, an attribute, an address, a script or a style.
const CORPUS: [&str; 16] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "' autofocus onfocus=alert(1) x='",
    "\" autofocus onfocus=\"alert(1)",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "--><script>alert(1)</script><!--",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;",
    "\u{0}<\u{0}script>alert(1)</script>",
    "</style><style>*{background:url(https://evil.example)}",
    "<a href=\"data:text/html,<script>alert(1)</script>\">x</a>",
    "\u{feff}+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
];

/// Returns the tags of a page with the names of their attributes.
fn structure(html: &str) -> Vec<String> {
    let names = |tag: crate::support::Tag| {
        let attributes = tag.attributes.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ");
        format!("{} {attributes}", tag.name)
    };
    tags(html).into_iter().map(names).collect()
}

#[test]
fn hostile_texts_change_no_tag_and_no_attribute() {
    let pages = pages();
    let plain: Vec<_> = shown(&pages, "en", &Person::hostile("text")).into_iter().collect();
    for text in CORPUS {
        for (page, plain) in shown(&pages, "en", &Person::hostile(text)).iter().zip(&plain) {
            assert_eq!(structure(&page.html), structure(&plain.html), "{} with {text}", page.name);
            assert!(!page.html.contains("<script>"), "{} with {text}", page.name);
        }
    }
}

#[test]
fn no_address_runs_a_script() {
    for page in shown(&pages(), "en", &Person::hostile("javascript:alert(1)")) {
        for tag in tags(&page.html) {
            for (name, value) in &tag.attributes {
                let is_address = ["href", "src", "action", "formaction", "content"].contains(&name.as_str());
                assert!(!is_address || !value.contains("javascript"), "{}: {name}={value}", page.name);
            }
        }
    }
}

#[test]
fn the_name_of_the_service_is_text_too() {
    for text in CORPUS {
        let site = Site { name: text.to_owned(), links: Links::default() };
        let hostile = Pages::new(site, &Theme::default(), Languages::built_in()).unwrap();
        let site = Site { name: "Example".to_owned(), links: Links::default() };
        let plain = Pages::new(site, &Theme::default(), Languages::built_in()).unwrap();
        let pages = [&hostile, &plain].map(|pages| shown(pages, "en", &Person::plain()));
        for (page, plain) in pages[0].iter().zip(&pages[1]) {
            assert_eq!(structure(&page.html), structure(&plain.html), "{} with {text}", page.name);
        }
    }
}

#[test]
fn controls_and_overrides_are_shown_as_signs() {
    let person = Person::hostile("a\u{202e}b\u{2066}c\u{1b}d");
    for page in shown(&pages(), "en", &person) {
        // What is typed into a field stays as it is, for its owner alone.
        for part in page.html.split('<') {
            let is_field = part.starts_with("input ") || part.starts_with("textarea ");
            assert!(is_field || !part.contains(['\u{202e}', '\u{2066}', '\u{1b}']), "{}: <{part}", page.name);
        }
    }
    let shown = shown(&pages(), "en", &person);
    let account = shown.iter().find(|page| page.name == "account").unwrap();
    assert!(account.html.contains("a⟨U+202E⟩b⟨U+2066⟩c␛d"));
}
