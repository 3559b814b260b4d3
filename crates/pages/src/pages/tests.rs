use serde_json::Value as Json;

use super::*;
use crate::frame::Links;
use crate::message::{Fault, Problem};
use crate::states;
use crate::templates::full_reason;

/// What would be markup in a text, an attribute in quotes of either kind, and an attribute without quotes.
const ATTACK: &str = "\"'><x on=1> x=1";

fn pages() -> Pages {
    let site = Site { name: ATTACK.to_owned(), links: Links::default() };
    Pages::new(site, &Theme::default(), Languages::built_in()).unwrap()
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
    let pages = pages();
    let language = pages.languages().choose(["en"]);
    let mut shown = 0;
    for state in states::all(&states::Person::plain()) {
        let page = serde_json::to_value(value(&state.frame)).unwrap();
        let view = serde_json::to_value(state.view.value()).unwrap();
        let both = serde_json::json!({ "page": page, "view": view });
        let mut paths = Vec::new();
        leaves(&both, "", &mut paths);
        for path in paths {
            let mut attacked = both.clone();
            *attacked.pointer_mut(&path).unwrap() = ATTACK.into();
            let values = ["page", "view"].map(|name| Value::from(minijinja::value::Serde(&attacked[name])));
            let [page, view] = values;
            // Words that select a part of the template are no texts of people: another one is refused.
            let Ok(html) = pages.render_values(language, state.view.template(), page, view, full_reason)
            else {
                continue;
            };
            assert!(
                !html.contains("<x") && !html.contains("\" x=") && !html.contains("\"'>"),
                "{} {path}",
                state.name
            );
            shown += usize::from(html.contains("&quot;&#39;&gt;&lt;x on=1&gt; x=1"));
        }
    }
    assert!(shown > 1_000, "{shown}");
}

/// A use case names the field of a refusal without knowing which fields the page has.
#[test]
fn refusal_at_a_field_that_no_page_has_is_told_on_every_page() {
    let pages = pages();
    let language = pages.languages().choose(["en"]);
    for mut state in states::all(&states::Person::plain()) {
        state.frame.problems = vec![Problem::at("absent", Fault::InvalidPasskey)];
        let html = pages.render(language, &state.frame, &*state.view).unwrap();
        assert_eq!(html.matches("This passkey did not work").count(), 1, "{}", state.name);
    }
}

#[test]
fn rendering_errors_do_not_quote_values() {
    let pages = pages();
    let language = pages.languages().choose(["en"]);
    let frame = Frame::new("/auth", crate::message::When(latchkey_domain::time::Timestamp::default()));
    let view = minijinja::context! { cause => minijinja::context! { key => "a secret" } };
    let quiet = |error: &minijinja::Error| error.kind().to_string();
    let error =
        pages.render_values(language, "error.html", value(&frame), view, quiet).unwrap_err().to_string();
    assert!(error.contains("error.html line 2") && !error.contains("secret"), "{error}");
}
