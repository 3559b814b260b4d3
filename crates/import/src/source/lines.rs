//! JSON lines: one object per line. Rows of a database are read alike.

use std::io;

use latchkey_domain::imports::{LARGEST_RECORD, Problem, ProblemCode};
use latchkey_domain::strict_json::parse_object;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{Bytes, Row, Source};
use crate::input::RowText;

/// Kind of the head of an export.
pub(crate) const HEAD: &str = "latchkey-export";

/// A line without its end.
pub(super) enum Line {
    Whole,
    /// The line is longer than a record may be. Its rest was skipped.
    TooLarge,
}

/// Reads the next line into `buffer`; `None` at the end of the file.
pub(super) fn read_line(bytes: &mut Bytes, buffer: &mut Vec<u8>) -> io::Result<Option<Line>> {
    buffer.clear();
    let (mut is_some, mut is_large) = (false, false);
    loop {
        let found = bytes.buffered()?;
        if found.is_empty() {
            break;
        }
        is_some = true;
        let end = memchr::memchr(b'\n', found);
        let part = &found[..end.unwrap_or(found.len())];
        // One byte more may be the CR of the line's end.
        is_large |= buffer.len() + part.len() > LARGEST_RECORD + 1;
        if !is_large {
            buffer.extend_from_slice(part);
        }
        let taken = part.len() + usize::from(end.is_some());
        bytes.consume(taken);
        if end.is_some() {
            bytes.line += 1;
            break;
        }
    }
    if buffer.last() == Some(&b'\r') {
        buffer.pop();
    }
    is_large |= buffer.len() > LARGEST_RECORD;
    Ok(is_some.then_some(if is_large { Line::TooLarge } else { Line::Whole }))
}

/// Parses an object by the strict rules.
pub(super) fn parse(text: &[u8]) -> Result<Map<String, Value>, Problem> {
    parse_object("record", text).map_err(|problem| match problem.field {
        Some(field) => Problem::of(ProblemCode::JsonInvalid, &field, problem.sentence),
        None => Problem { message: problem.sentence, ..Problem::new(ProblemCode::JsonInvalid) },
    })
}

pub(super) fn too_large() -> Problem {
    Problem {
        message: "the record has more than 1 MiB".to_owned(),
        ..Problem::new(ProblemCode::RecordTooLarge)
    }
}

/// Objects, one per line. Blank lines are skipped.
pub(crate) struct JsonLines {
    bytes: Bytes,
    buffer: Vec<u8>,
    /// True until the first row was read.
    is_first: bool,
    /// Digest of all lines before the last row, of an export of ours.
    before: Option<Sha256>,
}

impl JsonLines {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self { bytes, buffer: Vec::new(), is_first: true, before: None }
    }

    /// Creates the source with a digest of the lines, if the first one is the head of an export.
    pub(crate) fn with_digest(bytes: Bytes) -> Self {
        Self::new(Bytes { digest: Some(Sha256::new()), ..bytes })
    }
}

impl Source for JsonLines {
    fn next_row(&mut self) -> io::Result<Option<Row>> {
        loop {
            let line = self.bytes.line;
            self.before.clone_from(&self.bytes.digest);
            let object = match read_line(&mut self.bytes, &mut self.buffer)? {
                None => return Ok(None),
                Some(Line::TooLarge) => Err(too_large()),
                Some(Line::Whole) if self.buffer.trim_ascii().is_empty() => continue,
                Some(Line::Whole) => parse(self.buffer.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&self.buffer)),
            };
            let is_head =
                object.as_ref().is_ok_and(|object| object.get("kind").is_some_and(|kind| kind == HEAD));
            if self.is_first && !is_head {
                self.bytes.digest = None; // no export: nothing tells what its digest should be
            }
            self.is_first = false;
            return Ok(Some(Row { file: None, line, table: None, object }));
        }
    }

    fn digest(&self) -> Option<[u8; 32]> {
        self.before.clone().map(|digest| digest.finalize().into())
    }
}

/// Rows of a database, each the text of an object. They are numbered like lines.
pub(crate) struct RowTexts {
    rows: Box<dyn Iterator<Item = RowText> + Send>,
    number: u64,
}

impl RowTexts {
    pub(crate) fn new(rows: Box<dyn Iterator<Item = RowText> + Send>) -> Self {
        Self { rows, number: 0 }
    }
}

impl Source for RowTexts {
    fn next_row(&mut self) -> io::Result<Option<Row>> {
        let Some(row) = self.rows.next() else { return Ok(None) };
        let text = row.map_err(io::Error::other)?;
        self.number += 1;
        let object = if text.len() > LARGEST_RECORD { Err(too_large()) } else { parse(text.as_bytes()) };
        Ok(Some(Row { file: None, line: self.number, table: None, object }))
    }
}
