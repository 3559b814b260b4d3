//! Manifest of a backup, the file `NAME.json` beside it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use latchkey_domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{BackupError, beside};

/// Number of bytes that are read at once.
const CHUNK: usize = 256 * 1024;
/// Maximum size of a manifest in bytes. One that is larger was not written here.
const LONGEST: u64 = 64 * 1024;

/// What a backup contains, and how to tell that it is whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// SHA-256 of the file, in lower-case hex.
    pub sha256: String,
    /// Size of the file.
    pub bytes: u64,
    /// Time of the copy, in RFC 3339.
    pub created_at: String,
    /// Version of the service that made the backup.
    pub version: String,
    /// Name of the newest migration of the database.
    pub migration: String,
    /// Number of accounts.
    pub users: u64,
    /// Fingerprint of the server secret under which the database is sealed.
    pub secret_fingerprint: String,
    /// What tells the database from others; absent in manifests of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database: Option<String>,
}

/// Database that a backup may be of. Several may put their backups into one folder.
#[derive(Debug, Clone)]
pub struct Owner {
    /// What tells the database from others; `None` if no service of this version has opened it yet.
    pub database: Option<String>,
    pub secret_fingerprint: String,
}

impl Owner {
    /// Returns what is written into a manifest for the mark of a database.
    #[must_use]
    pub fn name_of(mark: NonZeroU32) -> String {
        format!("{mark:08x}")
    }

    /// True if the backup of this manifest is of this database.
    #[must_use]
    pub fn has(&self, manifest: &Manifest) -> bool {
        match (&self.database, &manifest.database) {
            (Some(ours), Some(theirs)) => ours == theirs,
            // A backup of an earlier version. Each service has a secret of its own.
            _ => self.secret_fingerprint == manifest.secret_fingerprint,
        }
    }
}

impl Manifest {
    /// Returns the database of the backup.
    #[must_use]
    pub fn owner(&self) -> Owner {
        Owner { database: self.database.clone(), secret_fingerprint: self.secret_fingerprint.clone() }
    }

    /// Returns the path of the manifest of a backup.
    #[must_use]
    pub fn path_of(backup: &Path) -> PathBuf {
        beside(backup, ".json")
    }

    /// Reads the manifest of a backup; `None` if there is none.
    pub fn read(backup: &Path) -> Result<Option<Self>, BackupError> {
        let path = Self::path_of(backup);
        let read = BackupError::file(&path, "the manifest cannot be read");
        let text = match File::open(&path).and_then(|file| io::read_to_string(file.take(LONGEST))) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(read(error)),
        };
        serde_json::from_str(&text).map(Some).map_err(|error| read(error.into()))
    }

    /// Formats the manifest as one line of JSON.
    #[must_use]
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }

    #[must_use]
    pub fn created_at(&self) -> Option<Timestamp> {
        Timestamp::parse(&self.created_at)
    }

    /// Compares size and digest with those of a file. The error names the difference.
    pub(super) fn compare(&self, backup: &Path, found: &Measured) -> Result<(), BackupError> {
        let name = backup.display();
        if found.bytes != self.bytes {
            return Err(BackupError::Refused(format!(
                "{name} has {} bytes, and its manifest says {}: it was not copied whole. Take another backup",
                found.bytes, self.bytes
            )));
        }
        if found.sha256 != self.sha256 {
            return Err(BackupError::Refused(format!(
                "{name} is not the file of its manifest, because its digest is another: it was changed or damaged. Take \
                 another backup"
            )));
        }
        Ok(())
    }
}

/// Size and digest of a file.
pub(super) struct Measured {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl Measured {
    /// Reads a file to its end, and passes each piece on.
    pub(super) fn of(
        path: &Path,
        mut see: impl FnMut(&[u8]) -> Result<(), BackupError>,
    ) -> Result<Self, BackupError> {
        let fail = || BackupError::file(path, "cannot be read");
        let mut file = File::open(path).map_err(fail())?;
        let (mut digest, mut bytes, mut piece) = (Sha256::new(), 0, vec![0; CHUNK]);
        loop {
            let length = file.read(&mut piece).map_err(fail())?;
            let Some(read) = piece.get(..length).filter(|read| !read.is_empty()) else { break };
            digest.update(read);
            see(read)?;
            bytes += length as u64;
        }
        Ok(Self { bytes, sha256: hex::encode(digest.finalize()) })
    }
}

/// Returns the size of a file; `None` unless it is a regular file.
pub(super) fn size_of(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file).map(|file| file.len())
}
