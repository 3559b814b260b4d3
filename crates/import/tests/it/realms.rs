//! Realms of Keycloak: one of an export is read, and what its users may write is theirs here too.

use std::sync::Arc;

use latchkey_domain::imports::{ImportRecord, ProblemCode};
use latchkey_import::{Format, ImportOptions, Input, Records};
use serde_json::{Value, json};

use super::{codes, read, read_with, record};

fn open(input: Input, realm: Option<&str>) -> Result<Vec<ImportRecord>, String> {
    let options = ImportOptions { realm: realm.map(str::to_owned), ..ImportOptions::default() };
    let records = Records::open(Format::find("keycloak").unwrap(), input, options);
    let records = records.map_err(|error| error.to_string())?;
    let read = |entry: Result<latchkey_import::Entry, latchkey_import::ReadError>| {
        entry.map(|entry| *entry.read.unwrap()).map_err(|error| error.to_string())
    };
    records.map(read).collect()
}

fn of_text(text: &str, realm: Option<&str>) -> Result<Vec<ImportRecord>, String> {
    open(Input::Bytes(Arc::from(text.as_bytes())), realm)
}

fn emails(records: &[ImportRecord]) -> Vec<&str> {
    records.iter().map(|record| record.email.as_typed()).collect()
}

fn user(email: &str) -> Value {
    let attributes = json!({"role": ["admin"], "city": ["London"], "locale": ["de"]});
    json!({"username": email, "email": email, "attributes": attributes})
}

fn folder(files: &[(&str, Value)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content.to_string()).unwrap();
    }
    folder
}

/// The component of a realm with this profile of users.
fn components(profile: &Value) -> Value {
    let config = json!({"kc.user.profile.config": [profile.to_string()]});
    json!({"org.keycloak.userprofile.UserProfileProvider": [{"config": config}], "org.keycloak.keys.KeyProvider": []})
}

/// A profile in which users write the city, and others by the policy.
fn profile(policy: &Value) -> Value {
    json!({"attributes": [
        {"name": "email", "permissions": {"view": ["admin", "user"], "edit": ["admin", "user"]}},
        {"name": "city", "permissions": {"view": ["user"], "edit": ["admin", "user"]}},
        {"name": "role", "permissions": {"view": ["user"], "edit": ["admin"]}},
    ], "unmanagedAttributePolicy": policy})
}

/// Returns the attributes in the metadata that admins write, and in those of the user.
fn split(record: &ImportRecord) -> (Value, Value) {
    let of = |map: &serde_json::Map<String, Value>| map.get("attributes").cloned().unwrap_or_default();
    assert_eq!(record.locale.as_ref().unwrap().as_str(), "de");
    (of(record.metadata.as_map()), of(record.profile_metadata.as_map()))
}

#[test]
fn attribute_that_users_may_write_is_no_admin_metadata() {
    let (both, city, role) =
        (json!({"role": "admin", "city": "London"}), json!({"city": "London"}), json!({"role": "admin"}));
    let open_to_all = json!({"attributes": [], "unmanagedAttributePolicy": "ENABLED"});
    let none = Value::Null;
    for (realm, expected) in [
        (json!({"components": components(&profile(&none))}), (&role, &city)),
        (json!({"components": components(&profile(&json!("ENABLED")))}), (&role, &city)),
        (json!({"components": components(&open_to_all)}), (&none, &both)),
        (
            json!({"components": components(&json!({"unmanagedAttributePolicy": "ADMIN_EDIT"}))}),
            (&both, &none),
        ),
        (json!({"components": components(&json!("not to be read"))}), (&none, &both)),
        (json!({"components": components(&profile(&none)), "keycloakVersion": "20.0.1"}), (&role, &city)),
        (json!({"components": {}, "keycloakVersion": "23.0.7"}), (&none, &both)),
        (json!({"keycloakVersion": "9.0.3"}), (&none, &both)),
        (json!({"keycloakVersion": "24.0.0"}), (&both, &none)),
        (
            json!({"components": {"org.keycloak.userprofile.UserProfileProvider": [{"config": {}}]}}),
            (&both, &none),
        ),
        (json!({}), (&both, &none)),
    ] {
        let users = json!({"realm": "demo", "users": [user("ada@example.org")]});
        let mut whole = realm.clone();
        whole["users"] = users["users"].clone();
        whole["realm"] = json!("demo");
        let mut apart = realm;
        apart["realm"] = json!("demo");
        let folder = folder(&[("demo-users-0.json", users), ("demo-realm.json", apart)]);

        let of_file = of_text(&whole.to_string(), None).unwrap();
        let of_folder = open(Input::Folder(folder.path().to_owned()), None).unwrap();

        whole.as_object_mut().unwrap().remove("realm");
        let of_nameless = of_text(&whole.to_string(), None).unwrap();
        for records in [of_file, of_folder, of_nameless] {
            let found = split(&records[0]);
            assert_eq!((&found.0, &found.1), expected, "{whole}");
        }
    }
}

#[test]
fn user_says_nothing_of_what_users_may_write() {
    let text = json!({"users": [{"email": "ada@example.org", "userAttributes": {"role": ["admin"]}}]});
    let record = record("keycloak", text.to_string());
    assert!(record.metadata.as_map().is_empty() && record.profile_metadata.as_map().is_empty());
}

fn several() -> Vec<(&'static str, Value)> {
    let users = |realm: &str, email: &str| json!({"realm": realm, "users": [user(email)]});
    vec![
        ("dev-realm.json", json!({"realm": "dev", "keycloakVersion": "20.0.1"})),
        ("dev-users-0.json", users("dev", "ada@dev.example")),
        ("master-users-0.json", users("master", "root@example.org")),
        ("prod-realm.json", json!({"realm": "prod", "keycloakVersion": "26.0.0"})),
        ("prod-users-0.json", users("prod", "ada@example.org")),
        ("prod-users-1.json", json!({"users": [user("bob@example.org")]})),
    ]
}

#[test]
fn one_realm_of_several_is_read_once_it_is_named() {
    let files = several();
    let folder = folder(&files);
    let input = || Input::Folder(folder.path().to_owned());

    let error = open(input(), None).unwrap_err();
    assert!(error.contains("\"dev\", \"master\", \"prod\"") && error.contains("--realm NAME"), "{error}");
    let error = open(input(), Some("test")).unwrap_err();
    assert!(error.contains("--realm test") && error.contains("\"prod\""), "{error}");
    let prod = open(input(), Some("prod")).unwrap();
    assert_eq!(emails(&prod), ["ada@example.org", "bob@example.org"]);
    assert_eq!(split(&prod[0]).1, Value::Null, "the rules are those of the realm");
    let dev = open(input(), Some("dev")).unwrap();
    assert_eq!((emails(&dev), split(&dev[0]).0), (vec!["ada@dev.example"], Value::Null));
}

#[test]
fn one_realm_of_an_array_is_read_once_it_is_named() {
    let realm = |name: &str, email: &str| json!({"users": [user(email)], "realm": name, "clients": [[], {}]});
    let all = json!([
        realm("dev", "ada@dev.example"),
        7,
        realm("prod", "ada@example.org"),
        realm("x", "x@example.org")
    ]);
    let one = json!([realm("prod", "ada@example.org")]);

    let error = of_text(&all.to_string(), None).unwrap_err();
    assert!(error.contains("\"dev\", \"prod\", \"x\""), "{error}");
    for (text, realm) in [(&all, Some("prod")), (&one, None), (&one, Some("prod"))] {
        for text in [text.to_string(), serde_json::to_string_pretty(text).unwrap()] {
            assert_eq!(emails(&of_text(&text, realm).unwrap()), ["ada@example.org"], "{text}");
        }
    }
    assert_eq!(
        emails(&of_text(&json!([user("ada@example.org")]).to_string(), None).unwrap()),
        ["ada@example.org"]
    );
}

#[test]
fn malformed_account_of_an_array_is_refused_alone() {
    let good = |email: &str| user(email).to_string();
    for bad in [r#"{"email": "bob@example.org", 7}"#, r#"{"email" "bob@example.org"}"#, r"{bob}"] {
        let text = format!("[{},\n{bad},\n{}]", good("ada@example.org"), good("zoe@example.org"));

        let entries = read("keycloak", text);

        assert_eq!(
            entries.iter().map(codes).collect::<Vec<_>>(),
            [vec![], vec![ProblemCode::JsonInvalid], vec![]]
        );
        assert_eq!(entries[1].line, 2, "{bad}");
    }
}

/// Reads a text that ends early: the accounts before that, and the error.
fn torn(text: &str, realm: Option<&str>) -> (Vec<ImportRecord>, String) {
    let options = ImportOptions { realm: realm.map(str::to_owned), ..ImportOptions::default() };
    let mut entries = read_with("keycloak", text, options);
    let error = entries.pop().unwrap().unwrap_err().to_string();
    (entries.into_iter().map(|entry| *entry.unwrap().read.unwrap()).collect(), error)
}

#[test]
fn accounts_before_the_end_of_a_torn_file_are_read() {
    let accounts = format!("[{},\n{},\n{{\"ema", user("ada@example.org"), user("bob@example.org"));
    let document = format!("{{\"realm\": \"prod\", \"users\": {accounts}");
    for (text, realm) in [(&accounts, None), (&document, None), (&document, Some("prod"))] {
        let (records, error) = torn(text, realm);
        assert_eq!(emails(&records), ["ada@example.org", "bob@example.org"]);
        assert!(error.starts_with("line 3: the file ends"), "{error}");
    }
    assert!(torn(&document, Some("dev")).1.contains("no such realm"));

    let whole = json!({"realm": "prod", "users": [user("ada@example.org")]});
    let (records, error) = torn(&format!("[{whole},\n{document}"), None);
    assert_eq!(
        (records.len(), error.starts_with("line 4: ")),
        (0, true),
        "a realm behind the tear would vanish"
    );
}

#[test]
fn torn_realm_may_let_users_write_all() {
    let text = format!("{{\"realm\": \"prod\", \"users\": [{},\n", user("ada@example.org"));
    assert_eq!(split(&torn(&text, None).0[0]), (Value::Null, json!({"role": "admin", "city": "London"})));

    let files = [("prod-realm.json", json!({"realm": "prod", "keycloakVersion": "26.0.0"}))];
    let folder = folder(&files);
    std::fs::write(folder.path().join("prod-users-0.json"), text).unwrap();
    let input = Input::Folder(folder.path().to_owned());
    let mut records =
        Records::open(Format::find("keycloak").unwrap(), input, ImportOptions::default()).unwrap();
    let record = records.next().unwrap().unwrap().read.unwrap();
    assert_eq!(
        split(&record),
        (json!({"role": "admin", "city": "London"}), Value::Null),
        "the other file says it"
    );
}

#[test]
fn other_format_has_no_realms() {
    let options = ImportOptions { realm: Some("prod".to_owned()), ..ImportOptions::default() };
    let error = read_with("csv", "email\nada@example.org\n", options).remove(0).unwrap_err().to_string();
    assert!(error.contains("csv has no realms"), "{error}");
}
