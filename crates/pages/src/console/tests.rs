use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::*;
use crate::states::Person;
use crate::templates::full_reason;

/// What would be markup in a text, an attribute in quotes of either kind, and an attribute without quotes.
const ATTACK: &str = "\"'><x on=1> x=1";

fn console() -> Console {
    let instance = Instance { name: ATTACK.to_owned(), mode: Mode::Development, version: "1".to_owned() };
    Console::new(&instance, &Theme::default()).unwrap()
}

/// Returns the paths of all texts of a value.
fn leaves(value: &Json, path: &str, found: &mut Vec<String>) {
    match value {
        Json::String(_) => found.push(path.to_owned()),
        Json::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| leaves(item, &format!("{path}/{index}"), found));
        }
        Json::Object(fields) => {
            fields.iter().for_each(|(key, field)| leaves(field, &format!("{path}/{key}"), found));
        }
        _ => {}
    }
}

#[test]
fn every_text_of_every_view_is_escaped_or_refused() {
    let console = console();
    let (mut shown, mut tried) = (0, BTreeSet::new());
    for state in all_states(&Person::plain()) {
        let page = serde_json::to_value(value(&state.frame)).unwrap();
        let view = serde_json::to_value(state.view.value()).unwrap();
        let both = serde_json::json!({ "page": page, "view": view });
        let mut paths = Vec::new();
        leaves(&both, "", &mut paths);
        for path in paths {
            // Rows of a list are alike: the first of each template is enough.
            let kind: String = path.chars().filter(|c| !c.is_ascii_digit()).collect();
            if !tried.insert((state.view.template(), kind)) {
                continue;
            }
            let mut attacked = both.clone();
            *attacked.pointer_mut(&path).unwrap() = ATTACK.into();
            let [page, view] =
                ["page", "view"].map(|name| minijinja::Value::from(minijinja::value::Serde(&attacked[name])));
            // Words that select a part of the template are no texts of people: another one is refused.
            let Ok(html) = console.render_values(state.view.template(), page, view, full_reason) else {
                continue;
            };
            assert!(!html.contains("<x") && !html.contains("\" x=") && !html.contains("\"'>"), "{path}");
            shown += 1;
        }
    }
    assert!(shown > 30, "{shown}");
}

#[test]
fn refusal_at_a_field_that_no_page_has_is_told_on_every_page() {
    let console = console();
    for mut state in all_states(&Person::plain()) {
        state.frame.problems = vec![Problem::at("absent", crate::message::Fault::InvalidPasskey)];
        let html = console.render(&state.frame, &*state.view).unwrap();
        assert_eq!(html.matches("This passkey did not work").count(), 1, "{}", state.name);
    }
}

#[test]
fn the_words_are_read() {
    let mut catalogue = crate::languages::Catalogue::default();
    assert_eq!(catalogue.extend(include_str!("../../locales/console.toml")), Ok(()));
}
