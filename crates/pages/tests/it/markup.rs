//! Rules that every page keeps.

use std::collections::BTreeSet;

use latchkey_pages::{PSEUDO, Person};

use crate::support::{Tag, pages, shown, tags};

/// Runs a check on the tags of every state.
fn every(check: impl Fn(&str, &str, &[Tag])) {
    let pages = pages();
    for (language, person) in [("en", Person::plain()), (PSEUDO, Person::long())] {
        for page in shown(&pages, language, &person) {
            check(page.name, &page.html, &tags(&page.html));
        }
    }
}

#[test]
fn nothing_is_inline() {
    every(|name, _, tags| {
        for tag in tags {
            assert!(tag.name != "style" && !tag.has("style"), "{name}: {tag:?}");
            assert!(tag.name != "script" || tag.has("src"), "{name}: {tag:?}");
            assert!(!tag.attributes.iter().any(|(key, _)| key.starts_with("on")), "{name}: {tag:?}");
            assert!(!["iframe", "object", "embed", "base"].contains(&tag.name.as_str()), "{name}: {tag:?}");
        }
    });
}

#[test]
fn every_form_that_acts_has_one_token() {
    every(|name, html, _| {
        for form in html.split("<form").skip(1) {
            let form = form.split_once("</form>").unwrap().0;
            let acts = form.contains("method=\"post\"");
            assert_eq!(form.matches("name=\"form_token\"").count(), usize::from(acts), "{name}: {form}");
            if !acts {
                assert!(
                    form.contains("method=\"get\"") && form.contains("name=\"locale\""),
                    "{name}: {form}"
                );
                continue;
            }
            assert_eq!(
                form.matches("<button>").count() + form.matches("<button ").count()
                    - form.matches("type=\"button\"").count(),
                1,
                "one act a form: {name}"
            );
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
    });
}

#[test]
fn ids_are_unique_and_references_lead_to_them() {
    every(|name, html, tags| {
        let mut ids = BTreeSet::new();
        for id in tags.iter().filter_map(|tag| tag.get("id")) {
            assert!(ids.insert(id), "{name}: {id} twice");
        }
        for tag in tags {
            for reference in ["for", "aria-describedby", "aria-labelledby", "data-copy", "data-reveal"] {
                for id in tag.get(reference).unwrap_or_default().split(' ').filter(|id| !id.is_empty()) {
                    assert!(ids.contains(id), "{name}: {reference}={id}");
                }
            }
            if let Some(id) = tag.get("href").and_then(|href| href.strip_prefix('#')) {
                assert!(ids.contains(id), "{name}: #{id}");
            }
        }
        assert!(!html.contains("=\"\"") || !html.contains("aria-describedby=\"\""), "{name}");
    });
}

#[test]
fn every_field_has_a_visible_label_and_an_autocomplete_token() {
    const TOKENS: [&str; 9] = [
        "username",
        "username webauthn",
        "current-password",
        "new-password",
        "one-time-code",
        "name",
        "email",
        "off",
        "webauthn",
    ];
    every(|name, _, tags| {
        for tag in tags.iter().filter(|tag| ["input", "textarea", "select"].contains(&tag.name.as_str())) {
            if tag.get("type") == Some("hidden") || tag.has("hidden") || tag.get("type") == Some("checkbox") {
                continue;
            }
            let id = tag.get("id").unwrap();
            assert!(
                tags.iter().any(|label| label.name == "label" && label.get("for") == Some(id)),
                "{name}: {id}"
            );
            assert!(!tag.has("placeholder"), "{name}: {id}");
            let token = tag.get("autocomplete").unwrap_or_else(|| panic!("{name}: {id}"));
            assert!(TOKENS.contains(&token), "{name}: {token}");
            if tag.get("type") == Some("password") {
                let is_new = id.contains("new")
                    || name.starts_with("sign_up")
                    || name.starts_with("reset")
                    || name.starts_with("invitation");
                assert_eq!(token, if is_new { "new-password" } else { "current-password" }, "{name}");
            }
        }
    });
}

#[test]
fn a_password_goes_with_the_name_of_its_account() {
    every(|name, html, tags| {
        for form in html.split("<form").skip(1).filter(|form| form.contains("type=\"password\"")) {
            assert!(form.contains("autocomplete=\"username"), "{name}");
        }
        let codes = tags.iter().filter(|tag| tag.get("inputmode") == Some("numeric"));
        assert!(codes.into_iter().all(|tag| tag.get("autocomplete") == Some("one-time-code")), "{name}");
    });
}

#[test]
fn refusals_are_tied_to_their_fields() {
    every(|name, html, tags| {
        for tag in tags.iter().filter(|tag| tag.has("aria-invalid")) {
            let id = tag.get("id").unwrap();
            let described = tag.get("aria-describedby").unwrap();
            assert!(described.split(' ').any(|one| one == format!("{id}-fault")), "{name}: {described}");
        }
        let faults = tags.iter().filter(|tag| tag.has("aria-invalid")).count();
        let alerts =
            tags.iter().filter(|tag| tag.get("class") == Some("note danger") && tag.has("autofocus")).count();
        assert!(faults < 2 || alerts == 1, "{name}: more than one fault needs a summary");
        if html.contains("<html lang=\"en\"") {
            assert_eq!(html.contains("<title>Error · "), faults + alerts > 0, "{name}");
        }
        assert!(
            tags.iter().filter(|tag| tag.has("autofocus")).count() < 2 || name.starts_with("email.pending"),
            "{name}"
        );
    });
}

#[test]
fn every_button_says_what_it_does() {
    every(|name, html, _| {
        for part in html.split("<button").skip(1) {
            let text = part.split_once('>').unwrap().1.split_once("</button>").unwrap().0;
            assert!(!text.trim().is_empty(), "{name}");
            assert!(!text.contains('!') && !text.to_lowercase().contains("submit"), "{name}: {text}");
        }
    });
}

#[test]
fn choice_of_a_language_keeps_the_parameters_of_the_page_and_is_left_out_where_it_cannot_lead_back() {
    let pages = pages();
    let language = pages.languages().choose(["en"]);
    let mut state = latchkey_pages::all_states(&Person::plain()).remove(0);
    for (here, expected) in [
        ("/auth/verified", Some("action=\"/auth/verified\">\n<ul>")),
        (
            "/auth/error?cause=a+%26%22b&flow=c",
            Some(
                "action=\"/auth/error\">\n<input type=\"hidden\" name=\"cause\" value=\"a &amp;&quot;b\">\n\
                 <input type=\"hidden\" name=\"flow\" value=\"c\">\n<ul>",
            ),
        ),
        ("", None),
    ] {
        here.clone_into(&mut state.frame.here);
        let html = pages.render(language, &state.frame, state.view.as_ref()).unwrap();
        assert_eq!(html.contains("name=\"locale\""), expected.is_some(), "{here}");
        assert!(html.contains(expected.unwrap_or_default()), "{here}: {html}");
    }
}

#[test]
fn every_field_of_the_profile_says_how_many_characters_it_takes() {
    let pages = pages();
    let shown = shown(&pages, "en", &Person::plain());
    let page = shown.iter().find(|page| page.name == "profile").unwrap();
    for (name, most, words) in [
        ("name", "100", "100 characters"),
        ("username", "32", "32 characters"),
        ("bio", "1000", "1,000 characters"),
        ("avatar_url", "2048", "2,048 characters"),
    ] {
        let tags = tags(&page.html);
        let field = tags.iter().find(|tag| tag.get("name") == Some(name) && tag.has("data-most")).unwrap();
        assert_eq!(field.get("data-most"), Some(most), "{name}");
        let count = format!("{name}-left");
        assert!(field.get("aria-describedby").unwrap().split(' ').any(|id| id == count), "{name}");
        assert!(page.html.contains(&format!("At most {words}.")), "{name}");
    }
}

#[test]
fn times_that_a_person_plans_by_are_relative_in_words_too() {
    let pages = pages();
    let shown = shown(&pages, "en", &Person::plain());
    for (name, words) in [
        ("challenge.restore", "</time> (in "),
        ("deleted", "</time> (in 14 days)"),
        ("email.pending", "</time> (in "),
        ("passkeys", "Added "),
        ("two_step.on", "Added "),
    ] {
        let page = shown.iter().find(|page| page.name == name).unwrap_or_else(|| panic!("{name}"));
        let at = page.html.find(words).unwrap_or_else(|| panic!("{name}: {words}"));
        let said: String = page.html[at..].chars().take(80).collect();
        assert!(!said.starts_with("Added <time"), "{name}: {said}");
    }
}
