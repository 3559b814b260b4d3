//! What an import reads: an open file, a folder, bytes, or rows of a database.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A row of a database as the text of a JSON object.
pub type RowText = Result<String, Box<dyn std::error::Error + Send + Sync>>;

/// What an import reads.
pub enum Input {
    /// An open file, and the number of bytes that were read of it, which is kept up to date.
    File(Arc<File>, Arc<AtomicU64>),
    /// Files of a folder. Symbolic links in it are not followed.
    Folder(PathBuf),
    /// Bytes in memory.
    Bytes(Arc<[u8]>),
    /// Rows of a database.
    Rows(Box<dyn Iterator<Item = RowText> + Send>),
}

/// Content that can be read from its beginning more than once.
#[derive(Clone)]
pub(crate) enum Content {
    File(Arc<File>, Arc<AtomicU64>),
    Bytes(Arc<[u8]>),
}

impl Content {
    pub(crate) fn open(&self) -> Box<dyn Read + Send> {
        match self {
            Self::File(file, read) => {
                Box::new(FromStart { file: Arc::clone(file), at: 0, read: Arc::clone(read) })
            }
            Self::Bytes(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
        }
    }
}

/// A file that is read, or a document in it.
#[derive(Clone)]
pub(crate) struct Part {
    /// Name of the file, if it is one of a folder.
    pub(crate) file: Option<Arc<str>>,
    /// Table of its rows, if the name of the file says it.
    pub(crate) table: Option<String>,
    /// Number of the document in an array of documents; `None` for the whole file.
    pub(crate) document: Option<usize>,
    pub(crate) content: Content,
}

impl Part {
    /// Creates the part of a file that stands alone.
    pub(crate) const fn whole(content: Content) -> Self {
        Self { file: None, table: None, document: None, content }
    }
}

/// Reader of a file with a position of its own.
struct FromStart {
    file: Arc<File>,
    at: u64,
    read: Arc<AtomicU64>,
}

impl Read for FromStart {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        self.read.store(self.at, Ordering::Relaxed);
        Ok(read)
    }
}
