//! Backups of a SQLite database: making, verifying, restoring and scheduling them. A backup is a file with a manifest
//! beside it. The engine copies and examines files (`latchkey_store_sqlite::Sqlite::back_up`).
//!
//! | Module | Contents |
//! |---|---|
//! | `backup` | making a backup, and verifying one |
//! | [`manifest`] | the manifest: contents, digest, fingerprint of the server secret |
//! | [`folder`] | names of backups in a folder, the newest one, deletion of old ones |
//! | `draft` | unfinished files, which get their name when they are whole |
//! | [`restore`] | restoring a backup |
//! | [`schedule`] | the worker that makes backups while the service runs |

mod backup;
mod draft;
pub mod folder;
pub mod manifest;
pub mod restore;
pub mod schedule;

use std::io;
use std::path::{Path, PathBuf};

use latchkey_http::error::chain_of;
use latchkey_service::secrets::{CannotDerive, ServerSecret};
use latchkey_service::tokens::{self, signing_keys::KeySet};
use latchkey_store_sqlite::{CopyError, SourceError};

pub use backup::{Place, Source, Taken, take, verify};

/// Reason why a backup was not made, is not good, or was not restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{}: {action}: {source}", .path.display())]
    File { path: PathBuf, action: &'static str, source: io::Error },
    #[error("{} exists already: name another file", .0.display())]
    Exists(PathBuf),
    #[error("{}: {}", .path.display(), chain_of(.error))]
    Copy { path: PathBuf, error: CopyError },
    #[error("the database {}", chain_of(.0))]
    InUse(#[from] SourceError),
    #[error("the server secret: {0}")]
    Secret(#[from] CannotDerive),
    /// The text has the reason and what to do.
    #[error("{0}")]
    Refused(String),
}

impl BackupError {
    fn file(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, action, source }
    }

    fn copy(path: &Path) -> impl FnOnce(CopyError) -> Self {
        let path = path.to_owned();
        move |error| Self::Copy { path, error }
    }
}

/// Deletes the unfinished files of this process, which a signal ends: the threads that make them are not waited for.
pub fn give_up() {
    draft::delete_live();
}

/// Returns whether a secret opens the signing keys of a database; true if there are none to tell by.
fn opens(secret: &ServerSecret, keys: &[latchkey_store::StoredSigningKey]) -> Result<bool, CannotDerive> {
    Ok(keys.is_empty() || KeySet::open(keys, &tokens::sealing_key(secret)?).is_ok())
}

/// Returns a path with a text behind it: `latchkey.db` and `-wal` give `latchkey.db-wal`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
