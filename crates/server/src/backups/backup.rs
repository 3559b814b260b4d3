//! Making a backup, and verifying one.

use std::fs;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use latchkey_domain::time::Timestamp;
use latchkey_http::error::chain_of;
use latchkey_service::entropy::{Entropy, SystemEntropy};
use latchkey_service::secrets::ServerSecret;
use latchkey_store_sqlite::{CopyError, Examined, LogAtClose, Sqlite};

use super::draft::{self, Draft};
use super::folder::Look;
use super::manifest::{Manifest, Measured, Owner};
use super::{BackupError, folder, opens};
use crate::data_folder::create_private;

/// Database to back up.
pub struct Source<'a> {
    pub database: &'a Path,
    /// Secret under which the database is sealed.
    pub secret: &'a ServerSecret,
    pub log: LogAtClose,
}

/// Place for a backup.
pub enum Place<'a> {
    /// File that does not exist yet.
    File(&'a Path),
    /// Folder in which the backup gets a name of its own, and the number of backups that stay there.
    Folder(&'a Path, Option<NonZeroUsize>),
    /// Standard output. The file is made in this folder first, because an unfinished copy must not look like one.
    Output(&'a Path),
}

/// Backup that was made.
pub struct Taken {
    /// Path of the file; `None` if it went to standard output.
    pub path: Option<PathBuf>,
    pub manifest: Manifest,
    /// Old backups that were deleted.
    pub pruned: Vec<PathBuf>,
    /// Why old backups could not be deleted.
    pub faults: Vec<BackupError>,
    /// Backups of the folder whose time is ahead of the clock. They stay.
    pub ahead: Vec<PathBuf>,
    /// Backups of the folder whose manifest cannot be read. They stay.
    pub unreadable: Vec<PathBuf>,
}

/// Backs up a database: copies and examines it under a temporary name, then gives file and manifest their names.
pub fn take(source: &Source<'_>, place: &Place<'_>, now: Timestamp) -> Result<Taken, BackupError> {
    let entropy: &dyn Entropy = &SystemEntropy;
    let folder = match place {
        Place::File(file) if file.exists() => return Err(BackupError::Exists((*file).to_owned())),
        Place::File(file) => draft::folder_of(file),
        Place::Folder(folder, _) | Place::Output(folder) => folder,
    };
    if let Place::Folder(folder, _) = place {
        create_private(folder).map_err(|error| BackupError::Refused(error.to_string()))?;
    }
    draft::delete_abandoned(folder, now);
    let draft = Draft::create(folder, entropy)?;
    let manifest = copy(source, draft.path(), now)?;
    let manifest_draft = Draft::with_text(folder, &manifest.to_line(), entropy)?;
    let publish = |path: &Path| publish(&draft, &manifest_draft, path);
    let (mut pruned, mut faults, mut seen) = (Vec::new(), Vec::new(), Look::default());
    let path = match place {
        Place::Output(_) => {
            print(draft.path())?;
            None
        }
        Place::File(file) if publish(file)? => Some((*file).to_owned()),
        Place::File(file) => return Err(BackupError::Exists((*file).to_owned())),
        Place::Folder(folder, keep) => {
            let mut path = None;
            for name in folder::names(folder, now) {
                if publish(&name)? {
                    path = Some(name);
                    break;
                }
            }
            let path = path.ok_or_else(|| BackupError::Exists((*folder).to_owned()))?;
            if let Some(keep) = keep {
                // The backup is made, whatever happens to the old ones.
                match folder::look(folder, &manifest.owner(), now) {
                    Ok(look) => seen = look,
                    Err(fault) => faults.push(fault),
                }
                let (deleted, kept) = folder::prune(&seen, *keep, &path);
                (pruned, faults) = (deleted, [faults, kept].into_iter().flatten().collect());
            }
            Some(path)
        }
    };
    Ok(Taken { path, manifest, pruned, faults, ahead: seen.ahead, unreadable: seen.unreadable })
}

/// Copies the database and examines the copy.
fn copy(source: &Source<'_>, target: &Path, now: Timestamp) -> Result<Manifest, BackupError> {
    Sqlite::back_up(source.database, target, source.log).map_err(fault_of(source.database, target))?;
    let examined = Sqlite::examine(target, now).map_err(fault_of(source.database, target))?;
    if examined.is_secret_replaced {
        return Err(BackupError::Refused(
            "server.secret is being replaced, so the backup would need two secrets: finish that by `latchkey secret rotate`, \
             with the same server.secret and server.secret_next, then back up"
                .to_owned(),
        ));
    }
    let Examined { migration, users, signing_keys, mark, .. } = examined;
    if !opens(source.secret, &signing_keys)? {
        return Err(BackupError::Refused(
            "server.secret is not that of the database, so the manifest would name a wrong one: set it to the one of the \
             running service"
                .to_owned(),
        ));
    }
    let Measured { bytes, sha256 } = Measured::of(target, |_| Ok(()))?;
    Ok(Manifest {
        sha256,
        bytes,
        created_at: now.to_rfc3339(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        migration,
        users,
        secret_fingerprint: source.secret.fingerprint()?,
        database: mark.map(Owner::name_of),
    })
}

/// Names the file or folder that a fault of the copy is about: the folder of the backup, or the database.
fn fault_of(database: &Path, target: &Path) -> impl FnOnce(CopyError) -> BackupError {
    let (database, target) = (database.to_owned(), target.to_owned());
    move |error| {
        let folder = draft::folder_of(&target).display();
        match error {
            _ if !target.exists() => BackupError::Refused(format!(
                "{folder}: the unfinished backup in this folder was removed, or the folder was (is its disk mounted?): run \
                 the command again; the service tries again by itself"
            )),
            CopyError::Target(error) => BackupError::Refused(format!(
                "{folder}: the backup cannot be written there: {}",
                chain_of(&error)
            )),
            error => BackupError::Copy { path: database, error },
        }
    }
}

/// Gives the manifest its name, then the file: a file without a manifest is never whole. Returns `false` if one of the
/// names is taken.
fn publish(file: &Draft, manifest: &Draft, path: &Path) -> Result<bool, BackupError> {
    let manifest_path = Manifest::path_of(path);
    // The file takes longest to be durable. Afterwards both names appear within a moment.
    file.sync()?;
    if path.exists() || !manifest.publish(&manifest_path)? {
        return Ok(false);
    }
    let is_published = file.publish(path);
    if !matches!(is_published, Ok(true)) {
        // The next attempt needs the draft of the manifest again.
        let _ = std::fs::rename(&manifest_path, manifest.path());
    }
    is_published
}

fn print(file: &Path) -> Result<(), BackupError> {
    let mut out = io::stdout().lock();
    let fault = || BackupError::file(Path::new("standard output"), "cannot be written");
    Measured::of(file, |piece| out.write_all(piece).map_err(fault()))?;
    out.flush().map_err(fault())
}

/// Verifies a backup with its manifest: size, digest, integrity, references, migrations, accounts, and that the secret is
/// the one that it needs.
pub fn verify(backup: &Path, secret: &ServerSecret, now: Timestamp) -> Result<Manifest, BackupError> {
    refuse_missing(backup)?;
    let Some(manifest) = Manifest::read(backup)? else {
        return Err(BackupError::Refused(format!(
            "{} is missing, so nothing says what the backup should be: put it back beside the file",
            Manifest::path_of(backup).display()
        )));
    };
    manifest.compare(backup, &Measured::of(backup, |_| Ok(()))?)?;
    refuse_other_secret(&manifest, secret)?;
    let examined = Sqlite::examine(backup, now).map_err(BackupError::copy(backup))?;
    refuse_two_secrets(&examined)?;
    refuse_differences(&manifest, &examined, secret)?;
    Ok(manifest)
}

/// Refuses the path of a backup at which there is no file.
pub(super) fn refuse_missing(backup: &Path) -> Result<(), BackupError> {
    match fs::metadata(backup) {
        Ok(file) if file.is_dir() => {
            Err(BackupError::Refused(format!("{} is a folder: name the file of a backup", backup.display())))
        }
        Ok(_) => Ok(()),
        Err(error) => Err(BackupError::file(backup, "the backup cannot be read")(error)),
    }
}

/// Refuses a backup of a database whose secret was being replaced. `latchkey backup` makes none; a copy of the file can be
/// one.
pub(super) fn refuse_two_secrets(examined: &Examined) -> Result<(), BackupError> {
    if !examined.is_secret_replaced {
        return Ok(());
    }
    Err(BackupError::Refused(
        "the backup was taken while server.secret was being replaced, so it needs the old secret and the new one: take another \
         backup. If there is no other, put a copy of the file in the place of the database, and run `latchkey secret rotate` \
         with both secrets"
            .to_owned(),
    ))
}

/// Refuses a backup that needs another secret.
pub(super) fn refuse_other_secret(manifest: &Manifest, secret: &ServerSecret) -> Result<(), BackupError> {
    if manifest.secret_fingerprint == secret.fingerprint()? {
        return Ok(());
    }
    Err(BackupError::Refused(
        "server.secret is not the one of the backup, so nothing that is sealed in it could be opened: set the secret that \
         the service had when the backup was made"
            .to_owned(),
    ))
}

/// Refuses a copy whose contents are not those of the manifest.
pub(super) fn refuse_differences(
    manifest: &Manifest,
    examined: &Examined,
    secret: &ServerSecret,
) -> Result<(), BackupError> {
    let is_same = (&manifest.migration, manifest.users) == (&examined.migration, examined.users);
    if is_same && opens(secret, &examined.signing_keys)? {
        return Ok(());
    }
    Err(BackupError::Refused(
        "the contents of the backup are not those of its manifest: take another backup".to_owned(),
    ))
}
