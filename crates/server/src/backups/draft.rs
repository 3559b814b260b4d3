//! Unfinished files. A draft has a name that nobody uses, and is deleted unless it is published: synced, and renamed
//! without replacing another file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use latchkey_domain::time::Timestamp;
use latchkey_service::entropy::Entropy;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{BackupError, beside};

const PREFIX: &str = ".latchkey-backup-";
const SUFFIX: &str = ".partial";
/// Age from which a draft was left by a process that died.
const ABANDONED: Duration = Duration::from_hours(24);

/// File that is deleted when it is dropped, with the files that SQLite makes beside it.
pub(super) struct Draft {
    path: PathBuf,
}

impl Draft {
    /// Creates an empty file in a folder, readable by its owner only (mode 600).
    pub(super) fn create(folder: &Path, entropy: &dyn Entropy) -> Result<Self, BackupError> {
        let path = folder.join(format!("{PREFIX}{}{SUFFIX}", hex::encode(entropy.bytes::<8>())));
        open_new(&path).map_err(BackupError::file(&path, "cannot be written"))?;
        Ok(Self { path })
    }

    /// Creates a file with this text in a folder.
    pub(super) fn with_text(folder: &Path, text: &str, entropy: &dyn Entropy) -> Result<Self, BackupError> {
        let draft = Self::create(folder, entropy)?;
        let write = || draft.append()?.write_all(text.as_bytes());
        write().map_err(BackupError::file(&draft.path, "cannot be written"))?;
        Ok(draft)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn append(&self) -> io::Result<File> {
        OpenOptions::new().append(true).open(&self.path)
    }

    /// Syncs the file and gives it its name. Returns `false` if a file of that name exists; the draft stays then.
    pub(super) fn publish(&self, name: &Path) -> Result<bool, BackupError> {
        self.sync()?;
        match renameat_with(CWD, &self.path, CWD, name, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(rustix::io::Errno::EXIST) => return Ok(false),
            // Some file systems cannot refuse to replace.
            Err(rustix::io::Errno::INVAL) if !name.exists() => {
                fs::rename(&self.path, name).map_err(BackupError::file(name, "cannot be written"))?;
            }
            Err(error) => return Err(BackupError::file(name, "cannot be written")(error.into())),
        }
        sync_folder_of(name)?;
        Ok(true)
    }

    fn sync(&self) -> Result<(), BackupError> {
        let synced = File::open(&self.path).and_then(|file| file.sync_all());
        synced.map_err(BackupError::file(&self.path, "cannot be written"))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // A published draft has no file of its name any more.
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let _ = fs::remove_file(beside(&self.path, suffix));
        }
    }
}

fn open_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Makes a rename in a folder durable.
pub(super) fn sync_folder_of(file: &Path) -> Result<(), BackupError> {
    let folder = folder_of(file);
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(BackupError::file(folder, "cannot be written"))
}

/// Returns the folder of a file; the working directory for a bare name.
pub(super) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."))
}

/// Deletes drafts that a process left behind when it died.
pub(super) fn delete_abandoned(folder: &Path, now: Timestamp) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_draft = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.contains(SUFFIX));
        let modified = entry.metadata().and_then(|file| file.modified()).ok();
        let modified = modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let modified = modified.and_then(|since| i64::try_from(since.as_millis()).ok());
        let is_old = modified.is_some_and(|at| now.since(Timestamp::from_millis(at)) > ABANDONED);
        if is_draft && is_old {
            let _ = fs::remove_file(entry.path()); // the next backup tries again
        }
    }
}
