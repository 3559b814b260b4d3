//! Unfinished files. A draft has a name that nobody uses, and is deleted unless it is published: synced, and renamed
//! without replacing another file. Beside it lies a file that its process keeps locked, so that another one can tell the
//! draft of a process that died.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use latchkey_domain::time::Timestamp;
use latchkey_service::entropy::Entropy;
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, RenameFlags, flock, open, renameat_with};

use super::{BackupError, beside};
use crate::data_folder::sync_folder;

const PREFIX: &str = ".latchkey-backup-";
const SUFFIX: &str = ".partial";
/// Suffix of the locked file beside a draft. The draft itself is not locked, because on some file systems SQLite could not
/// open it then.
const LOCK_SUFFIX: &str = ".lock";
/// Age from which a draft without a lock was left by a process that died: earlier versions made none, and some file systems
/// have none.
const ABANDONED: Duration = Duration::from_hours(24);

/// Drafts of this process.
static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// File that is deleted when it is dropped, with the files that SQLite makes beside it.
pub(super) struct Draft {
    path: PathBuf,
    /// Held until the draft is dropped; `None` if the file system has no locks.
    _lock: Option<File>,
}

impl Draft {
    /// Creates an empty file in a folder, readable by its owner only (mode 600).
    pub(super) fn create(folder: &Path, entropy: &dyn Entropy) -> Result<Self, BackupError> {
        let path = folder.join(format!("{PREFIX}{}{SUFFIX}", hex::encode(entropy.bytes::<8>())));
        live().insert(path.clone());
        let draft = Self { _lock: locked(&lock_of(&path)), path };
        open_new(&draft.path).map_err(BackupError::file(folder, "a file in this folder cannot be made"))?;
        Ok(draft)
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

    /// Copies a file to one beside the draft, which is deleted with it.
    pub(super) fn add(&self, suffix: &str, file: &Path) -> io::Result<()> {
        let mut copy = open_new(&beside(&self.path, suffix))?;
        io::copy(&mut File::open(file)?, &mut copy).map(drop)
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

    pub(super) fn sync(&self) -> Result<(), BackupError> {
        let synced = File::open(&self.path).and_then(|file| file.sync_all());
        synced.map_err(BackupError::file(&self.path, "cannot be written"))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        delete(&self.path);
        live().remove(&self.path);
    }
}

/// Deletes the drafts of this process, which ends at once: their threads are not waited for.
pub(super) fn delete_live() {
    live().iter().for_each(|draft| delete(draft));
}

fn live() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Deletes a draft with the files beside it. A published draft has no file of its name any more.
fn delete(draft: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(beside(draft, suffix));
    }
    let _ = fs::remove_file(lock_of(draft));
}

fn lock_of(draft: &Path) -> PathBuf {
    beside(&draft.with_extension(""), LOCK_SUFFIX)
}

/// Makes a file and locks it; `None` if the file system has no locks.
fn locked(path: &Path) -> Option<File> {
    let file = open_new(path).ok()?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
        return Some(file);
    }
    let _ = fs::remove_file(path);
    None
}

/// True if no process holds the lock. One that cannot be asked for counts as held.
fn is_free(lock: &Path) -> bool {
    // Neither a link nor a pipe that somebody put there is followed or waited for.
    let access = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    open(lock, access, Mode::empty())
        .is_ok_and(|file| flock(file, FlockOperation::NonBlockingLockExclusive).is_ok())
}

fn open_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Makes a rename in a folder durable.
pub(super) fn sync_folder_of(file: &Path) -> Result<(), BackupError> {
    let folder = folder_of(file);
    sync_folder(folder).map_err(BackupError::file(folder, "cannot be written"))
}

/// Returns the folder of a file; the working directory for a bare name.
pub(super) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."))
}

/// Deletes drafts that a process left behind when it died. What cannot be deleted is left to the next one.
pub(super) fn delete_abandoned(folder: &Path, now: Timestamp) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut drafts = BTreeMap::<String, Vec<String>>::new();
    for name in entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
        let parts = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('.'));
        let Some((id, _)) = parts.filter(|(_, kind)| *kind == "lock" || kind.starts_with("partial")) else {
            continue;
        };
        drafts.entry(id.to_owned()).or_default().push(name);
    }
    for (id, names) in drafts {
        let lock = folder.join(format!("{PREFIX}{id}{LOCK_SUFFIX}"));
        let is_left = |name: &String| {
            if lock.exists() { is_free(&lock) } else { is_old(&folder.join(name), now) }
        };
        let left: Vec<_> = names.iter().filter(|name| is_left(name)).collect();
        // The lock goes last: while it is there, it tells that the rest is left.
        let (locks, files): (Vec<_>, Vec<_>) = left.into_iter().partition(|name| name.ends_with(LOCK_SUFFIX));
        for name in files.into_iter().chain(locks) {
            let _ = fs::remove_file(folder.join(name));
        }
    }
}

fn is_old(file: &Path, now: Timestamp) -> bool {
    let modified = fs::symlink_metadata(file).and_then(|file| file.modified()).ok();
    let modified = modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let modified = modified.and_then(|since| i64::try_from(since.as_millis()).ok());
    modified.is_some_and(|at| now.since(Timestamp::from_millis(at)) > ABANDONED)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use latchkey_service::clock::{Clock, SystemClock};
    use latchkey_service::entropy::SystemEntropy;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn draft_of_a_living_process_stays_and_that_of_a_dead_one_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let draft = Draft::create(folder.path(), &SystemEntropy).unwrap();
        let dead = format!("{PREFIX}0123456789abcdef");
        for name in [".lock", ".partial", ".partial-journal"] {
            fs::write(folder.path().join(format!("{dead}{name}")), "x").unwrap();
        }
        let fresh = format!("{PREFIX}fedcba9876543210{SUFFIX}"); // without a lock it may be another version's
        fs::write(folder.path().join(&fresh), "x").unwrap();

        delete_abandoned(folder.path(), SystemClock.now());

        let left = names(folder.path());
        assert!(!left.iter().any(|name| name.starts_with(&dead)), "{left:?}");
        assert!(draft.path().exists() && left.contains(&fresh) && left.len() == 3, "{left:?}");
        delete_abandoned(folder.path(), SystemClock.now().plus(ABANDONED * 2));
        drop(draft);
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }

    #[test]
    fn drafts_of_this_process_are_deleted_at_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let draft = Draft::create(folder.path(), &SystemEntropy).unwrap();
        fs::write(beside(draft.path(), "-journal"), "x").unwrap();

        delete(draft.path());

        assert_eq!(names(folder.path()), Vec::<String>::new());
    }
}
