//! Tests of the inputs that the strict parser accepts and refuses.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn problem(text: impl AsRef<[u8]>) -> String {
    parse_object("body", text.as_ref()).expect_err("refused").to_string()
}

#[test]
fn an_object_reads_as_it_is() {
    let read = parse_object("body", r#" {"a":[1,-2,0.5,true,null,"ä😀"],"b":{"c":""}} "#.as_bytes()).unwrap();
    assert_eq!(Value::Object(read), json!({"a": [1, -2, 0.5, true, null, "ä😀"], "b": {"c": ""}}));
}

#[test]
fn duplicate_keys_are_refused_with_their_place() {
    assert_eq!(problem(r#"{"email":1,"email":1}"#), "`email` is given twice.");
    assert_eq!(problem(r#"{"a":[{},{"b":1,"\u0062":2}]}"#), "`a[1].b` is given twice.");
}

#[test]
fn nul_is_refused_in_texts_and_keys() {
    assert_eq!(problem(r#"{"a":{"b":["x\u0000"]}}"#), "`a.b[0]` must not contain the character U+0000.");
    assert_eq!(problem(r#"{"a\u0000":1}"#), "`a\\u{0}` must not contain the character U+0000.");
    assert!(problem("{\"a\":\"\0\"}").contains("line 1 column"));
}

#[test]
fn lone_surrogates_are_refused_in_texts_and_keys() {
    for text in [
        r#"{"a":"\ud800"}"#,
        r#"{"a":"\udc00"}"#,
        r#"{"\ud800":1}"#,
        r#"{"a":"\ud800\ud800"}"#,
        r#"{"a":"\ud83dx"}"#,
    ] {
        assert!(problem(text).starts_with("The body is not well-formed JSON"), "{text}");
    }
    assert!(parse_object("body", br#"{"a":"\ud83d\ude00"}"#).is_ok());
}

#[test]
fn what_is_no_object_is_refused() {
    for text in ["[]", "1", "\"a\"", "null", "true"] {
        assert_eq!(problem(text), "The body must be a JSON object.");
    }
}

#[test]
fn malformed_json_is_refused_with_its_place() {
    for text in [
        "",
        " ",
        "{",
        "{}x",
        "{}{}",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":NaN}",
        "{\"a\":01}",
        "// x\n{}",
        "{\"a\":\"\t\"}",
    ] {
        let problem = problem(text);
        assert!(problem.contains("line ") && problem.contains(" column "), "{text:?}: {problem}");
    }
}

#[test]
fn invalid_utf8_and_byte_order_marks_are_refused() {
    assert_eq!(problem(b"{\"a\":\"\xff\"}"), "The body is not UTF-8 at byte 6.");
    assert_eq!(problem(b"{\"a\":\"\xed\xa0\x80\"}"), "The body is not UTF-8 at byte 6.");
    assert_eq!(problem("\u{feff}{}"), "The body starts with a byte order mark.");
}

#[test]
fn numbers_beyond_a_double_are_refused() {
    assert!(problem(r#"{"a":1e400}"#).contains("number out of range"));
    assert!(problem(r#"{"a":-1e400}"#).contains("number out of range"));
    assert!(parse_object("body", br#"{"a":1e308,"b":18446744073709551616,"c":1e-400}"#).is_ok());
}

#[test]
fn depth_32_is_read_and_33_is_refused() {
    let nested = |depth: usize| format!("{}{}{}", r#"{"a":"#.repeat(depth), "1", "}".repeat(depth));
    assert!(parse_object("body", nested(32).as_bytes()).is_ok());
    assert_eq!(problem(nested(33)), "The body is nested deeper than 32 levels.");
    let arrays = |depth: usize| format!(r#"{{"a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    assert!(parse_object("body", arrays(31).as_bytes()).is_ok());
    assert_eq!(problem(arrays(32)), "The body is nested deeper than 32 levels.");
}

#[test]
fn hostile_depth_is_refused_without_recursion() {
    assert!(problem("[".repeat(1_000_000)).contains("nested deeper"));
    assert!(problem(r#"{"a":"#.repeat(200_000)).contains("nested deeper"));
}

#[test]
fn places_are_short_and_on_one_line() {
    let key = format!("\\n{}", "k".repeat(5000));
    let problem = problem(format!(r#"{{"{key}":1,"{key}":2}}"#));
    assert!(problem.len() < 120 && !problem.contains('\n'));
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse_object("body", &bytes);
    }

    #[test]
    fn random_json_like_text_never_panics(text in r#"[\[\]{}",:0-9a-e\\u\. \-]{0,200}"#) {
        if let Ok(object) = parse_object("body", text.as_bytes()) {
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), Value::Object(object));
        }
    }

    #[test]
    fn what_is_written_reads_back(keys in proptest::collection::btree_map("[^\0]{0,8}", "[^\0]{0,20}", 0..6)) {
        let text = serde_json::to_string(&keys).unwrap();
        prop_assert_eq!(Value::Object(parse_object("body", text.as_bytes()).unwrap()), json!(keys));
    }
}
