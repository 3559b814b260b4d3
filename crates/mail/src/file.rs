//! The file transport: writes each mail as an `.eml` file. The module `inbox` reads the files.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use latchkey_domain::time::Timestamp;
use time::OffsetDateTime;
use time::format_description::StaticFormatDescription;
use time::macros::format_description;

use crate::blocking_io::run_blocking;
use crate::message::{Message, MessageError};
use crate::send_error::SendError;

/// Time format of file names: UTC with milliseconds, so that names sort by time.
pub(crate) const TIME_FORMAT: StaticFormatDescription =
    format_description!("[year][month][day]T[hour][minute][second][subsecond digits:3]Z");

/// Counter in the names of temporary files: concurrent writers of this process never share a file.
static TEMPORARY: AtomicU64 = AtomicU64::new(0);

/// Writes mails into a folder as `{UTC time}-{message id}.eml`. The time is the date of the mail, so a retry replaces
/// the file of the first attempt. Readers never see a partial file.
#[derive(Debug, Clone)]
pub struct FileTransport {
    folder: PathBuf,
}

impl FileTransport {
    /// Creates the transport for a folder. Creates the folder with mode 700 if it does not exist.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        Ok(Self { folder: folder.to_owned() })
    }

    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) async fn send(&self, message: &Message) -> Result<(), SendError> {
        let mail = message.to_rfc5322()?;
        let stem = stem(message)?;
        let folder = self.folder.clone();

        run_blocking(move || write(&folder, &stem, &mail)).await.map_err(|error| {
            SendError::Transient(format!("the mail folder cannot be written: {}", error.kind()))
        })
    }
}

/// Returns the file name without `.eml`. The inbox uses it as the id of the mail.
fn stem(message: &Message) -> Result<String, MessageError> {
    let time = compact(message.date).ok_or(MessageError::Date)?;
    Ok(format!("{time}-{}", message.message_id))
}

fn compact(moment: Timestamp) -> Option<String> {
    let nanos = i128::from(moment.as_millis()) * 1_000_000;
    OffsetDateTime::from_unix_timestamp_nanos(nanos).ok()?.format(TIME_FORMAT).ok()
}

/// Writes the mail to a hidden temporary file and renames the file, which is atomic within a folder.
fn write(folder: &Path, stem: &str, mail: &[u8]) -> io::Result<()> {
    let number = TEMPORARY.fetch_add(1, Ordering::Relaxed);
    let temporary = folder.join(format!(".{stem}.{}-{number}.tmp", std::process::id()));

    let written = create_private(&temporary)
        .and_then(|mut file| file.write_all(mail).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&temporary, folder.join(format!("{stem}.eml"))));
    if written.is_err() {
        // The first error is reported; a leftover file stays hidden from readers.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests;
