//! Tests of section `pages`.

use latchkey_pages::{Address, Colour, Radius};

use super::{assert_says, development, load, problem, production};

#[test]
fn pages_are_on_in_development_alone() {
    assert!(load(development(&[])).pages.enabled);
    assert!(!load(production(&[])).pages.enabled);
    assert!(load(production(&["pages.enabled=true"])).pages.enabled);
}

#[test]
fn links_are_of_the_web_or_of_mail() {
    let settings = load(development(&["pages.links.support=mailto:help@example.org"]));
    assert_eq!(settings.page_links.support, Address::parse("mailto:help@example.org"));
    for text in ["javascript:alert(1)", "/terms", "example.org/terms", "data:text/html,x", "https://a b"] {
        let said = problem(development(&[&format!("pages.links.terms={text}")]));
        assert_says(&said, &["pages.links.terms", "wanted an address such as https://"]);
    }
}

#[test]
fn colours_and_radius_are_checked() {
    let settings = load(development(&["pages.theme.accent=#0a7", "pages.theme.radius=0px"]));
    assert_eq!(settings.theme.accent, Colour::parse("#00aa77").ok());
    assert_eq!(settings.theme.radius, Radius::new(0));
    let said = problem(development(&["pages.theme.accent=blue"]));
    assert_says(&said, &["pages.theme.accent", "blue", "#2f5bd0"]);
    for text in ["25px", "8", "-1px", "1em"] {
        let said = problem(development(&[&format!("pages.theme.radius={text}")]));
        assert_says(&said, &["pages.theme.radius", text, "8px"]);
    }
}

#[test]
fn unreadable_colours_are_warned_of_while_pages_are_on() {
    let yellow = "pages.theme.accent=#ffee00";
    let warnings = load(development(&[yellow])).warnings();
    assert_eq!(warnings.iter().filter(|warning| warning.contains("pages.theme.accent: #ffee00")).count(), 2);
    let off = load(development(&[yellow, "pages.enabled=false"])).warnings();
    assert!(!off.iter().any(|warning| warning.contains("pages.theme")), "{off:?}");
}
