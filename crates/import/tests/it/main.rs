//! Tests of the readers: what each format yields, and hostile files.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod bounds;
mod columns;
mod databases;
mod dropped;
mod exports;
mod foreign_hashes;
mod formats;
mod hosted_formats;
mod hostile;
mod not_carried;
mod realms;
mod shapes;
mod side_tables;
mod trust;

use std::sync::Arc;

use latchkey_domain::imports::{ImportRecord, ProblemCode};
use latchkey_domain::time::Timestamp;
use latchkey_import::{Entry, Format, ImportOptions, Input, ReadError, Records};

/// Reads a text in a format, in 2030 if the options say no time.
fn read_with(format: &str, text: impl AsRef<[u8]>, options: ImportOptions) -> Vec<Result<Entry, ReadError>> {
    let input = Input::Bytes(Arc::from(text.as_ref()));
    let is_given = options.now > Timestamp::default();
    let now = if is_given { options.now } else { Timestamp::parse("2030-01-01").unwrap() };
    let options = ImportOptions { now, ..options };
    match Records::open(Format::find(format).unwrap(), input, options) {
        Ok(records) => records.collect(),
        Err(error) => vec![Err(error)],
    }
}

fn read(format: &str, text: impl AsRef<[u8]>) -> Vec<Entry> {
    read_with(format, text, ImportOptions::default()).into_iter().map(Result::unwrap).collect()
}

/// Reads a text with a single record.
fn record(format: &str, text: impl AsRef<[u8]>) -> ImportRecord {
    let mut entries = read(format, text);
    assert_eq!(entries.len(), 1);
    *entries.remove(0).read.unwrap()
}

/// Returns the codes of the problems of a record, and of its refusal.
fn codes(entry: &Entry) -> Vec<ProblemCode> {
    let refused = entry.read.as_ref().err().map(|problem| problem.code);
    entry.problems.iter().map(|problem| problem.code).chain(refused).collect()
}

/// Returns the identities of a record as `provider/subject`.
fn identities(record: &ImportRecord) -> Vec<String> {
    let text = |one: &latchkey_domain::imports::ImportIdentity| {
        format!("{}/{}", one.provider.as_str(), one.subject.as_str())
    };
    record.identities.iter().map(text).collect()
}

fn hash(record: &ImportRecord) -> &str {
    record.password.as_ref().map_or("", |hash| hash.as_str())
}
