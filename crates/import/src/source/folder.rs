//! Files of a folder: those of a Keycloak export, or one file per table.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::input::Content;

/// Returns the JSON and CSV files of a folder in the order of their names. Symbolic links and folders are left out.
pub(crate) fn files_of(folder: &Path) -> io::Result<Vec<(String, Content)>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let is_read = path.extension().is_some_and(|ending| ending == "json" || ending == "csv");
        // The type of the entry itself, not of what a link leads to.
        if is_read && entry.file_type()?.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    let open = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok((name, Content::File(Arc::new(File::open(path)?), Arc::default())))
    };
    paths.iter().map(open).collect()
}
