//! Sizes and numbers of requests.

use latchkey_pages::{PAGES_CSS, PAGES_JS, PSEUDO, Person};

use crate::support::{pages, shown, tags};

const KIB: usize = 1024;

#[test]
fn style_sheet_and_script_fit_their_budgets() {
    assert!(PAGES_CSS.len() <= 16 * KIB, "{}", PAGES_CSS.len());
    assert!(PAGES_JS.len() <= 10 * KIB, "{}", PAGES_JS.len());
}

#[test]
fn every_page_fits_24_kib() {
    let pages = pages();
    for (language, person) in [
        ("en", Person::plain()),
        (PSEUDO, Person::long()),
        ("ja", Person::long()),
        ("fr", Person::right_to_left()),
    ] {
        for page in shown(&pages, language, &person) {
            assert!(page.html.len() <= 24 * KIB, "{} in {language} has {} bytes", page.name, page.html.len());
        }
    }
}

/// Names of all providers that have a mark.
const PROVIDERS: [&str; 18] = [
    "Apple",
    "Bitbucket",
    "Discord",
    "Facebook",
    "Figma",
    "GitHub",
    "GitLab",
    "Google",
    "Instagram",
    "LinkedIn",
    "Microsoft",
    "Notion",
    "Slack",
    "Spotify",
    "TikTok",
    "Twitch",
    "X",
    "Zoom",
];

#[test]
fn a_page_with_the_marks_of_all_providers_fits_24_kib() {
    let pages = pages();
    let person = Person { providers: PROVIDERS.map(str::to_owned).to_vec(), ..Person::plain() };
    for language in ["en", PSEUDO] {
        for page in shown(&pages, language, &person) {
            assert!(page.html.len() <= 24 * KIB, "{} in {language} has {} bytes", page.name, page.html.len());
            if ["sign_in", "sign_up", "providers", "providers.confirm"].contains(&page.name) {
                assert_eq!(
                    page.html.matches("<svg class=\"mark\"").count(),
                    PROVIDERS.len(),
                    "{}",
                    page.name
                );
                assert!(!page.html.contains("<span class=\"mark\""), "{}", page.name);
            }
        }
    }
}

#[test]
fn a_page_loads_two_files_of_its_own_origin() {
    let pages = pages();
    let prefix = format!("/assets/{}/", pages.assets().digest());
    for page in shown(&pages, "en", &Person::plain()) {
        let mut loaded = Vec::new();
        for tag in tags(&page.html) {
            let address = match tag.name.as_str() {
                "link" => tag.get("href"),
                "img" | "script" | "iframe" | "source" | "video" | "audio" | "embed" | "object" => {
                    tag.get("src")
                }
                _ => continue,
            };
            let address = address.unwrap().to_owned();
            assert!(address.starts_with(&prefix), "{}: {address}", page.name);
            let name = &address[prefix.len()..];
            assert!(pages.assets().find(pages.assets().digest(), name).is_some(), "{}: {address}", page.name);
            if tag.get("rel") != Some("icon") {
                loaded.push(name.to_owned());
            }
        }
        assert_eq!(loaded, ["theme.css", "pages.js"], "{}", page.name);
    }
}

#[test]
fn style_sheet_and_script_load_nothing() {
    assert!(!PAGES_CSS.contains("@import") && !PAGES_CSS.contains("url("));
    assert!(!PAGES_JS.contains("import ") && !PAGES_JS.contains("http"));
    for sink in
        ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc"]
    {
        assert!(!PAGES_JS.contains(sink), "{sink}");
    }
}
