//! Tests that the generated documents in `docs/` are up to date.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::Path;

use latchkey_http::openapi::{document, errors_markdown};

/// Compares a checked-in file with the text that the code generates. If they differ, the test fails and writes the
/// generated text to a file.
fn assert_fresh(file: &str, fresh: &str) {
    let present = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file));
    if present.is_ok_and(|present| present == fresh) {
        return;
    }
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    fs::write(&made, fresh).unwrap();
    panic!("docs/{file} is not what the code makes now; put {} in its place", made.display());
}

#[test]
fn openapi_json_is_fresh() {
    assert_fresh("openapi.json", &document());
}

#[test]
fn errors_md_is_fresh() {
    assert_fresh("errors.md", &errors_markdown());
}

#[test]
fn documents_are_the_same_every_time() {
    assert_eq!(document(), document());
    assert!(document().ends_with("}\n") && errors_markdown().ends_with("|\n"));
}
