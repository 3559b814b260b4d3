#![allow(clippy::unwrap_used, clippy::expect_used)]
use super::*;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    #[serde(rename = "email")]
    _email: Option<String>,
    #[serde(rename = "emailVerified")]
    _email_verified: Option<bool>,
}

fn refusal(name: &str) -> Option<String> {
    check_name(name, fields_of::<Change>().iter().copied()).err().map(|refusal| refusal.message.into_owned())
}

#[test]
fn fields_of_the_struct_are_known() {
    assert_eq!(fields_of::<Change>(), ["email", "emailVerified"]);
    assert_eq!(fields_of::<NoKeys>(), [""; 0]);
    for name in ["email", "emailVerified", "client_type"] {
        assert_eq!(refusal(name), None, "{name}");
    }
}

#[test]
fn unknown_name_is_refused_with_the_nearest() {
    for (name, nearest) in [
        ("emial", "email"),
        ("Email", "email"),
        ("email_verified", "emailVerified"),
        ("clientType", "client_type"),
    ] {
        assert_eq!(refusal(name).unwrap(), format!("`{name}` is not known here; did you mean `{nearest}`?"));
    }
    assert_eq!(refusal("zzz").unwrap(), "`zzz` is not known here; leave it out");
    assert_eq!(refusal("").unwrap(), "`` is not known here; leave it out");
}

#[test]
fn long_and_hostile_names_are_shown_in_short() {
    let message = refusal(&"ä\n".repeat(5000)).unwrap();

    assert!(message.chars().count() < 300 && !message.contains('\n'), "{message}");
}

#[test]
fn parameters_are_given_out_only_where_all_are_known() {
    let query = |text: &str| AdminQuery(text.to_owned());

    let good = query("limit=5&client_type=web&&").knowing(&["limit"]).ok().unwrap();
    assert_eq!(good.optional("limit").unwrap().as_deref(), Some("5"));
    for (text, wanted) in [
        ("limt=5", "`limt` is not known here; did you mean `limit`?"),
        ("%6cimits", "`limits` is not known here; did you mean `limit`?"),
        ("limit=5&=x", "`` is not known here; leave it out"),
        ("%ff=1", "The name of a query parameter is not percent-encoded UTF-8."),
    ] {
        assert_eq!(query(text).knowing(&["limit"]).err().unwrap().message, wanted, "{text}");
    }
}
