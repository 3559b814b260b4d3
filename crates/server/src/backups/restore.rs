//! Restoring a backup: checks, a private copy beside the target, and the exchange of the files. Between them the command
//! settles the copy (`latchkey_service::backups::Backups::settle_restored`).

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use latchkey_domain::time::Timestamp;
use latchkey_service::entropy::SystemEntropy;
use latchkey_service::secrets::ServerSecret;
use latchkey_store_sqlite::{Examined, Sqlite};

use super::backup::{refuse_differences, refuse_missing, refuse_other_secret, refuse_two_secrets};
use super::draft::{self, Draft};
use super::manifest::{Manifest, Measured};
use super::{BackupError, beside, opens};
use crate::data_folder::create_private;

/// Suffixes of the files of a SQLite database.
const FILES: [&str; 3] = ["", "-wal", "-shm"];

/// Whether a restore may do without the manifest, and move an existing database aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    No,
    Yes,
}

/// Checked copy of a backup beside the target. Dropping it deletes the copy.
pub struct Restoring {
    target: PathBuf,
    draft: Draft,
    /// Manifest of the backup; `None` if there is none and the restore was forced.
    pub manifest: Option<Manifest>,
    /// Log beside the backup, which is in the copy too.
    pub log: Option<PathBuf>,
}

/// Restored database.
pub struct Restored {
    pub target: PathBuf,
    /// Path of the database that was there before.
    pub moved: Option<PathBuf>,
}

impl Restoring {
    /// Checks the target and the backup, and copies the backup beside the target.
    pub fn begin(
        backup: &Path,
        target: &Path,
        secret: &ServerSecret,
        force: Force,
        now: Timestamp,
    ) -> Result<Self, BackupError> {
        // A link stays in its place; the file that it leads to is replaced.
        let target = target.canonicalize().unwrap_or_else(|_| target.to_owned());
        refuse_same_file(backup, &target)?;
        refuse_target(&target, force)?;
        refuse_missing(backup)?;
        let (manifest, log) = (Manifest::read(backup)?, log_of(backup));
        match &manifest {
            Some(manifest) => {
                refuse_other_secret(manifest, secret)?;
                log.as_deref().map_or(Ok(()), refuse_log)?;
            }
            None if force == Force::No => {
                return Err(BackupError::Refused(format!(
                    "{} is missing, so nothing says whether the backup is whole and which secret it needs: put it back \
                     beside the file, or give --force to rely on the integrity check alone",
                    Manifest::path_of(backup).display()
                )));
            }
            None => {}
        }
        // What a process writes meanwhile would be in one of the copies alone, before and after they are made.
        log.as_ref().map_or(Ok(()), |_| Sqlite::refuse_if_in_use(backup))?;
        let folder = draft::folder_of(&target);
        create_private(folder).map_err(|error| BackupError::Refused(error.to_string()))?;
        draft::delete_abandoned(folder, now);
        let draft = Draft::create(folder, &SystemEntropy)?;
        let fault = || BackupError::file(folder, "the copy of the backup cannot be written there");
        let mut copy = draft.append().map_err(fault())?;
        let measured = Measured::of(backup, |piece| copy.write_all(piece).map_err(fault()))?;
        if let Some(manifest) = &manifest {
            manifest.compare(backup, &measured)?;
        }
        if let Some(log) = &log {
            draft.add("-wal", log).map_err(BackupError::file(log, "cannot be copied"))?;
            Sqlite::refuse_if_in_use(backup)?;
            Sqlite::fold_log(draft.path()).map_err(BackupError::copy(backup))?;
        }
        let examined = Sqlite::examine(draft.path(), now).map_err(BackupError::copy(backup))?;
        refuse_two_secrets(&examined)?;
        match &manifest {
            Some(manifest) => refuse_differences(manifest, &examined, secret)?,
            None => refuse_unopened(&examined, secret)?,
        }
        Ok(Self { target, draft, manifest, log })
    }

    /// Returns the path of the copy, on which the restore is settled before it gets its place.
    #[must_use]
    pub fn copy(&self) -> &Path {
        self.draft.path()
    }

    /// Moves an existing database aside, and gives the copy its place. No process may have the copy open.
    pub fn finish(self, force: Force, now: Timestamp) -> Result<Restored, BackupError> {
        for suffix in &FILES[1..] {
            let left = beside(self.draft.path(), suffix);
            if left.exists() {
                return Err(BackupError::Refused(format!(
                    "{} was not closed, so the restore was given up: run the command again",
                    left.display()
                )));
            }
        }
        let target = self.target.clone();
        refuse_target(&target, force)?;
        let moved = is_there(&target).then(|| move_aside(&target, now)).transpose()?;
        if !self.draft.publish(&target)? {
            return Err(BackupError::Exists(target));
        }
        Ok(Restored { target, moved })
    }
}

/// Returns the log beside a file, if it has anything.
fn log_of(backup: &Path) -> Option<PathBuf> {
    Some(beside(backup, "-wal")).filter(|log| fs::metadata(log).is_ok_and(|log| log.len() > 0))
}

/// Refuses a log beside a backup that has a manifest: a backup is one file.
fn refuse_log(log: &Path) -> Result<(), BackupError> {
    Err(BackupError::Refused(format!(
        "{} lies beside the backup and is no part of it: move it away to restore what the manifest describes",
        log.display()
    )))
}

/// True if one of the files of a database is there. A log that was left behind would be read into the restored file.
fn is_there(target: &Path) -> bool {
    FILES.iter().any(|suffix| beside(target, suffix).exists())
}

/// Refuses a target that is a folder, that a process has open, or that is there without force.
fn refuse_target(target: &Path, force: Force) -> Result<(), BackupError> {
    if target.is_dir() {
        return Err(BackupError::Refused(format!(
            "{} is a folder: name the file of the database, such as {}",
            target.display(),
            target.join("latchkey.db").display()
        )));
    }
    if !is_there(target) {
        return Ok(());
    }
    if target.exists() {
        Sqlite::refuse_if_in_use(target)?;
    }
    if force == Force::No {
        return Err(BackupError::Refused(format!(
            "there is a database at {}: restore to another path by --to, or give --force, which moves it aside",
            target.display()
        )));
    }
    Ok(())
}

/// Refuses to restore a backup over itself, which would leave none of it.
fn refuse_same_file(backup: &Path, target: &Path) -> Result<(), BackupError> {
    let id = |path: &Path| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    if id(target).is_none_or(|target| Some(target) != id(backup)) {
        return Ok(());
    }
    Err(BackupError::Refused(format!(
        "{} is the backup itself, which would be moved aside and altered: restore it to another path",
        target.display()
    )))
}

/// Refuses a database without a manifest that the secret does not open.
fn refuse_unopened(examined: &Examined, secret: &ServerSecret) -> Result<(), BackupError> {
    if opens(secret, &examined.signing_keys)? {
        return Ok(());
    }
    Err(BackupError::Refused(
        "server.secret does not open the signing keys of the backup: set the secret that the service had when the backup \
         was made"
            .to_owned(),
    ))
}

/// Renames the files of a database, so that they are one database still. The main file goes first: if this process dies
/// between, nothing serves it without what its log has.
fn move_aside(target: &Path, now: Timestamp) -> Result<PathBuf, BackupError> {
    let digits = now.to_rfc3339().replace(['-', ':', '.'], "");
    let aside = beside(target, &format!(".before-restore-{digits}"));
    for suffix in FILES {
        let (from, to) = (beside(target, suffix), beside(&aside, suffix));
        if from.exists() {
            fs::rename(&from, &to).map_err(BackupError::file(&from, "cannot be moved aside"))?;
        }
    }
    draft::sync_folder_of(target)?;
    Ok(aside)
}
