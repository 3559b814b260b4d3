//! The shape of a file, recognised by its first bytes.

use std::io;

use super::csv::Table;
use super::dump::Dump;
use super::json::Document;
use super::{Bytes, JsonLines, Source, malformed};
use crate::formats::Format;
use crate::input::{Content, Part};

const SQLITE: &[u8] = b"SQLite format 3\0";
const COMPRESSED: [&[u8]; 4] = [b"\x1f\x8b", b"PK\x03\x04", b"\x28\xb5\x2f\xfd", b"BZh"];
/// Beginnings of a plain dump.
const DUMP: [&[u8]; 3] = [b"--", b"SET ", b"COPY "];

/// Opens the rows of a part.
pub(crate) fn open(format: &Format, part: &Part) -> io::Result<Box<dyn Source>> {
    let content = &part.content;
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
    if is_utf16(start) {
        return Err(malformed(
            1,
            "this is a UTF-16 file: `iconv -f UTF-16 -t UTF-8 FILE | latchkey import - --from …`",
        ));
    }
    let first = bytes.skip_blanks()?;
    let tables = format.table_names();
    match first {
        Some(_) if format.is_lines => Ok(Box::new(JsonLines::with_digest(bytes))),
        Some(b'[') => Ok(Box::new(Document::new(bytes, tables).at(part.document))),
        Some(b'{') if format.is_document || is_document(format, content) => {
            Ok(Box::new(Document::new(bytes, tables)))
        }
        Some(b'{') => Ok(Box::new(JsonLines::new(bytes))),
        Some(_) if DUMP.iter().any(|start| bytes.buffered().is_ok_and(|found| found.starts_with(start))) => {
            Ok(Box::new(Dump::new(bytes, tables)))
        }
        Some(_) => Ok(Box::new(Table::open(bytes)?)),
        None => Err(malformed(1, "the file is empty")),
    }
}

/// True if a file begins with the byte order mark of UTF-16, or with an ASCII character in UTF-16.
fn is_utf16(start: &[u8]) -> bool {
    match start {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => true,
        [first, second, ..] => (*first == 0) != (*second == 0),
        _ => false,
    }
}

/// True if an object is a document with tables, and not the first of many lines. The table may come after others, which are
/// passed over.
fn is_document(format: &Format, content: &Content) -> bool {
    let mut bytes = Bytes::new(content.open());
    if bytes.skip_blanks().is_err() {
        return false;
    }
    // A line has the whole of its object.
    if bytes.buffered().is_ok_and(is_broken) {
        return true;
    }
    Document::new(bytes, format.names.to_vec()).has_table().unwrap_or_default()
}

/// True if a line ends right after the brace.
fn is_broken(start: &[u8]) -> bool {
    start.iter().skip(1).take_while(|byte| byte.is_ascii_whitespace()).any(|byte| *byte == b'\n')
}
