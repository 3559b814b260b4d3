//! Comma-separated values (RFC 4180), with a header. Our own reader, because a record must be bounded: an unclosed quote
//! would make the rest of the file one field.

use std::io;

use latchkey_domain::imports::{LARGEST_RECORD, Problem, ProblemCode};
use serde_json::{Map, Value};

use super::lines::too_large;
use super::{Bytes, Row, Source, malformed};

/// Maximum number of columns.
const MOST_COLUMNS: usize = 1_000;

/// Rows of a file with a header.
pub(crate) struct Table {
    bytes: Bytes,
    header: Vec<String>,
    fields: Fields,
}

/// Fields of a record: their bytes one after another, and where each ends.
#[derive(Default)]
struct Fields {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    is_large: bool,
    problem: Option<&'static str>,
}

const QUOTE: &str = "a quote is not closed, or text follows it";
const PLAIN_QUOTE: &str = "a quote is inside of a field that does not begin with one";
const COLUMNS: &str = "there are more than 1,000 fields";

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Plain,
    Quoted,
    /// After a quote in a quoted field, which ends the field or begins a doubled quote.
    Quote,
}

impl Fields {
    fn push(&mut self, byte: u8) {
        if self.bytes.len() < LARGEST_RECORD {
            self.bytes.push(byte);
        } else {
            self.is_large = true;
        }
    }

    fn end(&mut self) {
        if self.ends.len() < MOST_COLUMNS {
            self.ends.push(self.bytes.len());
        } else {
            self.problem.get_or_insert(COLUMNS);
        }
    }

    /// Reads a record; false at the end of the file.
    fn read(&mut self, bytes: &mut Bytes) -> io::Result<bool> {
        self.bytes.clear();
        self.ends.clear();
        (self.is_large, self.problem) = (false, None);
        let (mut state, mut is_empty) = (State::Start, true);
        while let Some(byte) = bytes.next()? {
            is_empty = false;
            state = match (state, byte) {
                (State::Quoted, b'"') => State::Quote,
                (State::Quoted, _) => {
                    self.push(byte);
                    State::Quoted
                }
                (State::Quote, b'"') => {
                    self.push(b'"');
                    State::Quoted
                }
                (State::Start, b'"') => State::Quoted,
                (_, b',') => {
                    self.end();
                    State::Start
                }
                (_, b'\n') => {
                    self.end();
                    return Ok(true);
                }
                (_, b'\r') if bytes.peek()? == Some(b'\n') => state,
                (State::Quote, _) => {
                    self.problem.get_or_insert(QUOTE);
                    self.push(byte); // a CR shows that the lines end otherwise
                    State::Plain
                }
                (State::Plain, b'"') => {
                    self.problem.get_or_insert(PLAIN_QUOTE);
                    State::Plain
                }
                (State::Start | State::Plain, _) => {
                    self.push(byte);
                    State::Plain
                }
            };
        }
        if is_empty {
            return Ok(false);
        }
        if state == State::Quoted {
            self.problem.get_or_insert(QUOTE);
        }
        self.end();
        Ok(true)
    }

    fn texts(&self) -> Option<Vec<&str>> {
        let mut start = 0;
        let part = |end: &usize| {
            let part = &self.bytes[start..*end];
            start = *end;
            std::str::from_utf8(part).ok()
        };
        self.ends.iter().map(part).collect()
    }

    fn is_blank(&self) -> bool {
        self.bytes.is_empty() && self.ends.len() <= 1
    }
}

impl Table {
    pub(crate) fn open(mut bytes: Bytes) -> io::Result<Self> {
        bytes.skip_blanks()?;
        let mut fields = Fields::default();
        fields.read(&mut bytes)?;
        // Such a file is one record, with too many fields or a misplaced quote if it is not small.
        if fields.bytes.windows(2).any(|pair| pair[0] == b'\r' && pair[1] != b'\n') {
            return Err(malformed(1, "the lines end with CR alone: write them with LF or CR LF"));
        }
        if let Some(problem) = fields.problem {
            return Err(malformed(1, &format!("in the header {problem}")));
        }
        let header = fields.texts().ok_or_else(|| malformed(1, "the header is not UTF-8"))?;
        let header: Vec<String> = header.into_iter().map(|name| name.trim().to_owned()).collect();
        if let Some(twice) = header.iter().enumerate().find(|(at, name)| header[..*at].contains(name)) {
            return Err(malformed(1, &format!("the column {:?} is given twice", twice.1)));
        }
        Ok(Self { bytes, header, fields })
    }

    fn object(&self) -> Result<Map<String, Value>, Problem> {
        let invalid = |message: String| Problem { message, ..Problem::new(ProblemCode::JsonInvalid) };
        if self.fields.is_large {
            return Err(too_large());
        }
        if let Some(problem) = self.fields.problem {
            return Err(invalid(problem.to_owned()));
        }
        let texts = self.fields.texts().ok_or_else(|| invalid("the record is not UTF-8".to_owned()))?;
        if texts.len() != self.header.len() {
            let (found, wanted) = (texts.len(), self.header.len());
            return Err(invalid(format!("the record has {found} fields, the header {wanted}")));
        }
        if texts.iter().any(|text| text.contains('\0')) {
            return Err(invalid("the record contains the character U+0000".to_owned()));
        }
        Ok(self.header.iter().cloned().zip(texts.into_iter().map(Value::from)).collect())
    }
}

impl Source for Table {
    fn next_row(&mut self) -> io::Result<Option<Row>> {
        loop {
            let line = self.bytes.line;
            if !self.fields.read(&mut self.bytes)? {
                return Ok(None);
            }
            if self.fields.is_blank() {
                continue;
            }
            return Ok(Some(Row { file: None, line, table: None, object: self.object() }));
        }
    }

    fn header(&self) -> Option<&[String]> {
        Some(&self.header)
    }
}
