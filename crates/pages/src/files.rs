//! Reading of the operator's files, up to a maximum size.

use std::io;
use std::path::Path;

/// Reads a regular file of at most `longest` bytes.
pub(crate) fn read(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::other("is not a file"));
    }
    if metadata.len() > longest {
        return Err(io::Error::other(format!("is longer than {} KiB", longest / 1024)));
    }
    std::fs::read(path)
}

/// Reads a UTF-8 text of at most `longest` bytes.
pub(crate) fn read_text(path: &Path, longest: u64) -> io::Result<String> {
    String::from_utf8(read(path, longest)?).map_err(|_| io::Error::other("is not UTF-8"))
}
