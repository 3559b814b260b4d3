//! Section `data`: the folder for everything that the service writes.

use std::path::PathBuf;

use super::reader::Reader;

/// Section `data`.
#[derive(Debug)]
pub struct DataSettings {
    /// The folder; made at start where it is missing.
    pub dir: PathBuf,
}

impl DataSettings {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        let dir = PathBuf::from(reader.text("data.dir"));
        if dir.as_os_str().is_empty() {
            reader.refuse("data.dir", "it is empty; set it to a folder, such as ./latchkey-data");
        }
        Self { dir }
    }
}
