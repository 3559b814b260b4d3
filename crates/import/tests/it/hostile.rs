//! Hostile files: each bad record is refused by itself, with its line, and the next one is read.

use std::sync::Arc;

use latchkey_domain::imports::ProblemCode;
use latchkey_import::{FORMATS, ImportOptions, Input, Records};
use proptest::prelude::*;

use super::{codes, read, read_with};

const GOOD: &str = r#"{"email": "ada@example.org"}"#;

/// Reads a bad line between two good ones, and returns the problem of the bad one.
fn problem_between(bad: &[u8]) -> ProblemCode {
    let text = [GOOD.as_bytes(), bad, GOOD.as_bytes()].join(&b'\n');
    let entries = read("latchkey", text);
    assert_eq!(entries.len(), 3);
    assert!(entries[0].read.is_ok() && entries[2].read.is_ok());
    assert_eq!((entries[1].line, entries[2].line), (2, 3));
    codes(&entries[1])[0]
}

#[test]
fn bad_line_is_refused_by_itself() {
    let deep =
        format!("{{\"email\":\"a@b.example\",\"metadata\":{}1{}}}", "{\"a\":".repeat(40), "}".repeat(40));
    let large = format!("{{\"email\":\"a@b.example\",\"bio\":\"{}\"}}", "x".repeat(2_000_000));
    for (bad, code) in [
        (deep.as_bytes(), ProblemCode::JsonInvalid),
        (large.as_bytes(), ProblemCode::RecordTooLarge),
        (b"{\"email\":\"a@b.example\",\"email\":\"c@d.example\"}", ProblemCode::JsonInvalid),
        (b"{\"email\":\"a@b.example\",\"name\":\"\\u0000\"}", ProblemCode::JsonInvalid),
        (b"{\"email\":\"a@b.example\",\"name\":\"\\ud800\"}", ProblemCode::JsonInvalid),
        (b"{\"email\":\"a@b.example\",\"name\":\"\xff\"}", ProblemCode::JsonInvalid),
        (b"{\"email\":", ProblemCode::JsonInvalid),
        (b"[1]", ProblemCode::JsonInvalid),
        (b"nonsense", ProblemCode::JsonInvalid),
    ] {
        assert_eq!(problem_between(bad), code, "{}", String::from_utf8_lossy(&bad[..bad.len().min(60)]));
    }
}

#[test]
fn bad_first_line_is_no_header() {
    let entries = read("latchkey", format!("nonsense\n{GOOD}\n"));
    assert_eq!((codes(&entries[0]), entries[1].read.is_ok()), (vec![ProblemCode::JsonInvalid], true));
}

#[test]
fn bad_element_of_an_array_is_refused_by_itself() {
    let large = format!("{{\"email\":\"a@b.example\",\"x\":\"{}\"}}", "\\\"]".repeat(600_000));
    let text = format!("[\n{GOOD},\n{large},\n{{\"a\":1,\"a\":2}},\n 7,\n{GOOD}\n]\n");
    let entries = read("auth0", text);
    let found: Vec<_> = entries.iter().map(|entry| (entry.line, codes(entry))).collect();
    assert_eq!(
        found,
        [
            (2, vec![]),
            (3, vec![ProblemCode::RecordTooLarge]),
            (4, vec![ProblemCode::JsonInvalid]),
            (5, vec![ProblemCode::JsonInvalid]),
            (6, vec![]),
        ]
    );
}

#[test]
fn document_that_ends_early_is_told() {
    for text in [
        "[",
        "[{",
        "[{\"email\":\"a@b.example\"}",
        "{\"users\":[",
        "{\"users\":[{\"email\":\"x",
        "{\"users\"",
        "[1 2",
    ] {
        let entries = read_with("firebase", text, ImportOptions::default());
        assert!(entries.last().unwrap().is_err(), "{text}");
    }
}

#[test]
fn unclosed_quote_ends_at_a_record() {
    let rows = "bob@example.org,x\n".repeat(200_000);
    let entries = read("csv", format!("email,name\nada@example.org,Ada\neve@example.org,\"oops\n{rows}"));
    assert_eq!(entries.len(), 2);
    assert_eq!(codes(&entries[1]), [ProblemCode::RecordTooLarge]);
}

#[test]
fn row_with_other_fields_than_the_header_is_refused() {
    let entries =
        read("csv", "email,name\nada@example.org\nbob@example.org,Bob\n\"x\"y,z\na\0b@x.example,z\n");
    let found: Vec<_> = entries.iter().map(|entry| (entry.line, entry.read.is_ok())).collect();
    assert_eq!(found, [(2, false), (3, true), (4, false), (5, false)]);
}

#[test]
fn files_of_other_kinds_are_refused_in_words() {
    for (start, word) in [
        (&b"\x1f\x8b\x08\0"[..], "zcat"),
        (b"PK\x03\x04", "zcat"),
        (b"SQLite format 3\0", "SQLite"),
        (b"", "empty"),
        (b"  \n ", "empty"),
        (b"email,email\n", "twice"),
    ] {
        let error = read_with("csv", start, ImportOptions::default()).remove(0).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        for format in FORMATS {
            let records = Records::open(format, Input::Bytes(Arc::from(bytes.as_slice())), ImportOptions::default());
            if let Ok(records) = records {
                let _ = records.count();
            }
        }
    }

    #[test]
    fn no_json_panics(text in "[\\[\\]{}\",:a-z0-9\\\\ \n]{0,200}") {
        for format in FORMATS {
            let records = Records::open(format, Input::Bytes(Arc::from(text.as_bytes())), ImportOptions::default());
            if let Ok(records) = records {
                let _ = records.count();
            }
        }
    }

    #[test]
    fn csv_reads_what_was_written(fields in proptest::collection::vec("[a-z,\"\n ]{0,12}", 1..5)) {
        let quoted: Vec<_> = fields.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\""))).collect();
        let header: Vec<_> = (0..fields.len()).map(|at| format!("c{at}")).collect();
        let text = format!("email,{}\nada@example.org,{}\n", header.join(","), quoted.join(","));
        let options = ImportOptions { keep_rest: true, ..ImportOptions::default() };
        let record = read_with("csv", text, options).remove(0).unwrap().read.unwrap();
        let rest = record.metadata.as_map().get("imported").cloned().unwrap_or_default();
        for (name, field) in header.iter().zip(&fields) {
            prop_assert_eq!(rest.get(name).and_then(|value| value.as_str()).unwrap_or_default(), field);
        }
    }
}
