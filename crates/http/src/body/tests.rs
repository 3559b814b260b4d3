//! Tests of body errors and of content types.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use http::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde_json::json;

use super::*;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its reading is tested")]
struct SignUp {
    email: Word,
    password: String,
    #[serde(default, alias = "refresh_token")]
    refresh_token: Option<String>,
    options: Option<Options>,
    count: Option<u32>,
    ids: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its reading is tested")]
struct Options {
    email_redirect_to: String,
}

#[derive(Debug)]
#[expect(dead_code, reason = "only its reading is tested")]
struct Word(String);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.contains(' ') { Err(serde::de::Error::custom("must be one word")) } else { Ok(Self(text)) }
    }
}

fn message(value: Value) -> String {
    let Value::Object(object) = value else { panic!("an object") };
    from_object::<SignUp>(object).expect_err("refused").message.into_owned()
}

#[test]
fn missing_field_is_named() {
    assert_eq!(message(json!({"password": "x"})), "`email` is required");
    assert_eq!(
        message(json!({"email": "a", "password": "x", "options": {}})),
        "`options.emailRedirectTo` is required"
    );
}

#[test]
fn wrong_type_names_field_and_what_is_wanted() {
    assert_eq!(message(json!({"email": 5, "password": "x"})), "`email` must be a string");
    assert_eq!(message(json!({"email": ["a"], "password": "x"})), "`email` must be a string");
    assert_eq!(message(json!({"email": null, "password": "x"})), "`email` must be a string, not null");
    assert_eq!(message(json!({"email": "a", "password": "x", "options": 1})), "`options` must be an object");
    assert_eq!(
        message(json!({"email": "a", "password": "x", "count": -1})),
        "`count` must be a non-negative integer"
    );
    assert_eq!(
        message(json!({"email": "a", "password": "x", "ids": ["a", {}]})),
        "`ids[1]` must be a string"
    );
    assert_eq!(message(json!({"email": "a", "password": "x", "ids": {}})), "`ids` must be an array");
}

#[test]
fn the_domain_types_own_words_are_used() {
    assert_eq!(message(json!({"email": "a b", "password": "x"})), "`email` must be one word");
}

#[test]
fn values_are_not_repeated() {
    let text = message(json!({"email": "a", "password": "x", "count": "hunter2, expected hunter3"}));
    assert_eq!(text, "`count` must be a non-negative integer");
}

#[test]
fn field_is_named_in_the_clients_spelling() {
    assert_eq!(
        message(json!({"email": "a", "password": "x", "refresh_token": 1})),
        "`refresh_token` must be a string"
    );
    let text = message(json!({"email": "a", "password": "x", "refresh_token": "1", "refreshToken": "1"}));
    assert_eq!(text, "`refreshToken` is given twice, under two names");
}

#[test]
fn unknown_keys_are_ignored() {
    let object = json!({"email": "a", "password": "x", "whatever": [1]});
    assert!(from_object::<SignUp>(object.as_object().unwrap().clone()).is_ok());
}

#[derive(Deserialize)]
struct Change {
    #[serde(default)]
    bio: Patch<String>,
}

#[test]
fn patch_tells_absent_null_and_value_apart() {
    let read =
        |value: Value| from_object::<Change>(value.as_object().unwrap().clone()).map(|change| change.bio);
    assert_eq!(read(json!({})).unwrap(), Patch::Absent);
    assert_eq!(read(json!({"bio": null})).unwrap(), Patch::Null);
    assert_eq!(read(json!({"bio": ""})).unwrap(), Patch::Value(String::new()));
    assert_eq!(read(json!({"bio": 1})).unwrap_err().message, "`bio` must be a string");
}

fn is_accepted(content_type: &str) -> bool {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_str(content_type).unwrap());
    read::check_content_type(&headers).is_ok()
}

#[test]
fn json_in_utf8_is_the_accepted_type() {
    for good in [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=\"UTF-8\"",
        "application/merge-patch+json",
        "application/json; v=1",
    ] {
        assert!(is_accepted(good), "{good}");
    }
    for bad in [
        "",
        "text/plain",
        "text/json",
        "application/jsonp",
        "application/json; charset=latin1",
        "application/+json",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "json",
    ] {
        assert!(!is_accepted(bad), "{bad}");
    }
}

#[test]
fn absent_or_repeated_type_and_codings_are_refused() {
    assert!(read::check_content_type(&HeaderMap::new()).is_err());
    let mut headers = HeaderMap::new();
    headers.append("content-type", HeaderValue::from_static("application/json"));
    headers.append("content-encoding", HeaderValue::from_static("gzip"));
    assert!(read::check_content_type(&headers).is_err());
    headers.remove("content-encoding");
    headers.append("content-type", HeaderValue::from_static("application/json"));
    assert!(read::check_content_type(&headers).is_err());
}
