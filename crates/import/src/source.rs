//! Sources: the rows of a file in one of the shapes that exports have. Each has its own file. A row that is malformed or too
//! large is a problem of that row; the next one is read all the same.

mod csv;
mod dump;
mod folder;
mod json;
mod lines;
mod shape;

use std::io::{self, BufRead};

use latchkey_domain::imports::Problem;
use serde_json::{Map, Value};

pub(crate) use folder::files_of;
pub(crate) use lines::{JsonLines, RowTexts};
pub(crate) use shape::open;

/// A row of a source.
pub(crate) struct Row {
    /// Line of the file at which the row begins.
    pub(crate) line: u64,
    /// Table that the row belongs to; `None` if the file has a single one.
    pub(crate) table: Option<String>,
    pub(crate) object: Result<Map<String, Value>, Problem>,
}

/// Rows of a file.
pub(crate) trait Source: Send {
    /// Returns the next row; `None` at the end. An error ends the file.
    fn next_row(&mut self) -> io::Result<Option<Row>>;

    /// Returns the names of the columns, if the file has a header.
    fn header(&self) -> Option<&[String]> {
        None
    }
}

/// Bytes of a file with the number of the current line.
pub(crate) struct Bytes {
    inner: Box<dyn BufRead + Send>,
    pub(crate) line: u64,
}

impl Bytes {
    pub(crate) fn new(inner: Box<dyn BufRead + Send>) -> Self {
        Self { inner, line: 1 }
    }

    pub(crate) fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.inner.fill_buf()?.first().copied())
    }

    pub(crate) fn buffered(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    /// Skips bytes of the buffer.
    pub(crate) fn consume(&mut self, count: usize) {
        self.inner.consume(count);
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<u8>> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            self.inner.consume(1);
            self.line += u64::from(byte == b'\n');
        }
        Ok(byte)
    }

    /// Skips white space, and a byte order mark at the start of the file. Returns the byte after it.
    pub(crate) fn skip_blanks(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\r' | b'\n') => {
                    self.next()?;
                }
                Some(0xEF) if self.buffered()?.starts_with(b"\xEF\xBB\xBF") => self.consume(3),
                other => return Ok(other),
            }
        }
    }
}

pub(crate) fn malformed(line: u64, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("line {line}: {what}"))
}
