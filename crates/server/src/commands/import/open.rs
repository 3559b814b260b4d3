//! The file of an import: opened, hashed, and copied to a temporary file if it is standard input.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use latchkey_import::{Format, Input};
use latchkey_service::imports::Stop;
use sha2::{Digest, Sha256};

use super::{CommandError, refused, unreadable};
use crate::cli::ImportFile;

const BUFFER: usize = 256 * 1024;
/// Path and name of standard input. The name of a file is its whole path.
const STANDARD_INPUT: &str = "-";

/// An opened file.
pub(super) struct Opened {
    pub(super) input: Input,
    pub(super) source: Source,
}

/// What is known of a file before it is read.
pub(super) struct Source {
    /// Name of the file in messages.
    pub(super) name: String,
    /// SHA-256 of the file; `None` for a database, whose content may change.
    pub(super) digest: Option<[u8; 32]>,
    /// Size in bytes, and the number of bytes that were read.
    pub(super) size: Option<u64>,
    pub(super) read: Option<Arc<AtomicU64>>,
}

impl Source {
    /// True if the name stands for the same content each time, as that of a file or folder does. That of a database, or of
    /// standard input, says nothing about what an earlier import under it read.
    pub(super) fn is_named_file(&self) -> bool {
        self.digest.is_some() && self.name != STANDARD_INPUT
    }
}

/// Opens a file, a folder or a SQLite database. It blocks while standard input comes, or a named pipe has no writer.
pub(super) fn open(
    arguments: &ImportFile,
    format: &'static Format,
    stop: Stop,
) -> Result<Opened, CommandError> {
    let Some(path) = &arguments.path else {
        return Err(refused("name the file to import, or - for standard input".to_owned()));
    };
    if path.as_os_str() == STANDARD_INPUT {
        return of_file(spool()?, STANDARD_INPUT.to_owned());
    }
    let name = path.canonicalize().map_err(|error| unreadable(path, &error))?.display().to_string();
    let fault = |error| unreadable(path, &error);
    if path.is_dir() {
        let digest = Some(digest_of_folder(path).map_err(fault)?);
        let source = Source { name, digest, size: None, read: None };
        return Ok(Opened { input: Input::Folder(path.clone()), source });
    }
    let mut file = File::open(path).map_err(fault)?;
    let mut start = [0; 16];
    let is_sqlite = file.read_exact(&mut start).is_ok() && &start == b"SQLite format 3\0";
    if is_sqlite {
        return super::open_foreign::sqlite(path, name, arguments, format, stop);
    }
    file.rewind().map_err(fault)?;
    of_file(file, name)
}

fn of_file(mut file: File, name: String) -> Result<Opened, CommandError> {
    let digest = Some(digest_of(&mut file)?);
    let (size, read) = (file.metadata()?.len(), Arc::default());
    let input = Input::File(Arc::new(file), Arc::clone(&read));
    Ok(Opened { input, source: Source { name, digest, size: Some(size), read: Some(read) } })
}

/// Copies standard input to a file without a name, because its hash has to be known before it is read.
fn spool() -> Result<File, CommandError> {
    let mut file = tempfile::tempfile()?;
    std::io::copy(&mut std::io::stdin().lock(), &mut file)?;
    file.rewind()?;
    Ok(file)
}

fn digest_of(file: &mut File) -> std::io::Result<[u8; 32]> {
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; BUFFER]);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(digest.finalize().into());
        }
        digest.update(&buffer[..read]);
    }
}

/// Returns the SHA-256 of the names and contents of a folder's files.
fn digest_of_folder(folder: &Path) -> std::io::Result<[u8; 32]> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            paths.push(entry.path());
        }
    }
    paths.sort();
    let mut digest = Sha256::new();
    for path in paths {
        digest.update(path.file_name().unwrap_or_default().as_encoded_bytes());
        digest.update(digest_of(&mut File::open(&path)?)?);
    }
    Ok(digest.finalize().into())
}
