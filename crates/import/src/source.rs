//! Sources: the rows of a file in one of the shapes that exports have. Each has its own file. A row that is malformed or too
//! large is a problem of that row; the next one is read all the same.

mod csv;
mod dump;
mod folder;
mod json;
mod lines;
mod shape;

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use latchkey_domain::imports::Problem;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

pub(crate) use folder::files_of;
pub(crate) use json::{Document, Outline};
pub(crate) use lines::{HEAD, JsonLines, RowTexts};
pub(crate) use shape::open;

/// A row of a source.
pub(crate) struct Row {
    /// File of the row, if it is one of a folder. The reader of the files fills it in.
    pub(crate) file: Option<Arc<str>>,
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

    /// True if the file has a place for accounts, be it empty. It is known at the end.
    fn has_place(&self, _is_main: &dyn Fn(&str) -> bool) -> bool {
        true
    }

    /// Returns the SHA-256 of all bytes before the last row, if the source computes it.
    fn digest(&self) -> Option<[u8; 32]> {
        None
    }
}

/// Size of the buffer of a file.
const BUFFER: usize = 256 * 1024;

/// Bytes of a file with the number of the current line. It has a buffer of its own, because most sources take byte by byte.
pub(crate) struct Bytes {
    inner: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// Part of the buffer that is not consumed yet.
    rest: Range<usize>,
    pub(crate) line: u64,
    /// SHA-256 of the consumed bytes, while it is wanted.
    pub(crate) digest: Option<Sha256>,
}

impl Bytes {
    pub(crate) fn new(inner: Box<dyn Read + Send>) -> Self {
        Self { inner, buffer: vec![0; BUFFER], rest: 0..0, line: 1, digest: None }
    }

    pub(crate) fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.buffered()?.first().copied())
    }

    /// Returns the bytes of the buffer; empty at the end of the file.
    pub(crate) fn buffered(&mut self) -> io::Result<&[u8]> {
        while self.rest.is_empty() {
            match self.inner.read(&mut self.buffer) {
                Ok(0) => break,
                Ok(read) => self.rest = 0..read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&self.buffer[self.rest.clone()])
    }

    /// Skips bytes of the buffer.
    pub(crate) fn consume(&mut self, count: usize) {
        if let Some(digest) = &mut self.digest {
            digest.update(&self.buffer[self.rest.start..self.rest.start + count]);
        }
        self.rest.start += count;
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<u8>> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            self.consume(1);
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
