//! The shape of a file, recognised by its first bytes.

use std::io;

use super::csv::Table;
use super::dump::Dump;
use super::json::Document;
use super::{Bytes, JsonLines, Source, malformed};
use crate::formats::Format;
use crate::input::Content;

const SQLITE: &[u8] = b"SQLite format 3\0";
const COMPRESSED: [&[u8]; 4] = [b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"BZh"];
/// Beginnings of a plain dump.
const DUMP: [&[u8]; 3] = [b"--", b"SET ", b"COPY "];

/// Opens the rows of a file.
pub(crate) fn open(format: &Format, content: &Content) -> io::Result<Box<dyn Source>> {
    let mut bytes = Bytes::new(content.open());
    let start = bytes.buffered()?;
    if start.starts_with(SQLITE) {
        return Err(malformed(
            1,
            "this is a SQLite file, which is read by `latchkey import` of the command line alone",
        ));
    }
    if COMPRESSED.iter().any(|magic| start.starts_with(magic)) {
        return Err(malformed(1, "this is a compressed file: `zcat FILE | latchkey import - --from …`"));
    }
    let first = bytes.skip_blanks()?;
    let tables = format.table_names();
    match first {
        Some(_) if format.is_lines => Ok(Box::new(JsonLines::with_digest(bytes))),
        Some(b'[') => Ok(Box::new(Document::new(bytes, tables))),
        Some(b'{') if is_document(format, bytes.buffered()?) => Ok(Box::new(Document::new(bytes, tables))),
        Some(b'{') => Ok(Box::new(JsonLines::new(bytes))),
        Some(_) if DUMP.iter().any(|start| bytes.buffered().is_ok_and(|found| found.starts_with(start))) => {
            Ok(Box::new(Dump::new(bytes, tables)))
        }
        Some(_) => Ok(Box::new(Table::open(bytes)?)),
        None => Err(malformed(1, "the file is empty")),
    }
}

/// True if an object is a document with tables, and not the first of many lines.
fn is_document(format: &Format, start: &[u8]) -> bool {
    let first_key = || {
        let text = start.strip_prefix(b"{")?.trim_ascii_start().strip_prefix(b"\"")?;
        let end = memchr::memchr(b'"', text)?;
        std::str::from_utf8(&text[..end]).ok()
    };
    format.is_document || first_key().is_some_and(|key| format.table_names().contains(&key))
}
