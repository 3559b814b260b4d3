//! Data folder: its creation, and the server secret and admin key that development mode generates into it at the first
//! start.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use latchkey_service::entropy::Entropy;
use rustix::io::Errno;

use crate::settings::Secret;

/// Name of the file with the generated server secret.
pub(crate) const SECRET_FILE: &str = "server-secret";
/// Name of the file with the generated admin key.
pub(crate) const ADMIN_KEY_FILE: &str = "admin-key";

/// Minimum length of a stored secret in characters, the same as for secrets in the settings.
const SHORTEST: usize = 32;

/// Error of reading or writing in the data folder, with the path and the failed action.
#[derive(Debug, thiserror::Error)]
#[error("{}: {action}: {source}", .path.display())]
pub struct DataFolderError {
    path: PathBuf,
    action: &'static str,
    source: io::Error,
}

impl DataFolderError {
    /// Error of a file or folder that cannot be written.
    pub(crate) fn unwritable(path: &Path, source: io::Error) -> Self {
        Self { path: path.to_owned(), action: "cannot be written", source }
    }
}

/// Existing data folder, in which secrets can be read or generated.
pub struct DataFolder<'a> {
    path: &'a Path,
}

/// Secret stored in a file of the data folder.
pub struct Kept {
    pub secret: Secret,
    pub path: PathBuf,
    /// True if this call generated the secret.
    pub is_new: bool,
}

impl<'a> DataFolder<'a> {
    /// Creates the folder, with mode 700, if it is missing.
    pub fn open(path: &'a Path) -> Result<Self, DataFolderError> {
        create_private(path)?;
        Ok(Self { path })
    }

    /// Reads the server secret, or generates it at the first start.
    pub fn server_secret(&self, entropy: &dyn Entropy) -> Result<Kept, DataFolderError> {
        self.keep(SECRET_FILE, "", entropy)
    }

    /// Reads the admin key, or generates it at the first start.
    pub fn admin_key(&self, entropy: &dyn Entropy) -> Result<Kept, DataFolderError> {
        self.keep(ADMIN_KEY_FILE, "admin_", entropy)
    }

    /// Reads a secret from a file, or generates one of 256 random bits. A new secret is first written to another file,
    /// which is then hard-linked to the name. So the file is never incomplete, and two processes that start together
    /// use the same secret.
    fn keep(&self, name: &str, prefix: &str, entropy: &dyn Entropy) -> Result<Kept, DataFolderError> {
        let path = self.path.join(name);
        let fail = |action| {
            let path = path.clone();
            move |source| DataFolderError { path, action, source }
        };
        let mut is_new = false;
        if !path.exists() {
            let text = format!("{prefix}{}\n", hex::encode(entropy.bytes::<32>()));
            let draft = self.path.join(format!(".{name}.{}", hex::encode(entropy.bytes::<8>())));
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&draft)
                .map_err(fail("cannot be written"))?;
            file.write_all(text.as_bytes())
                .and_then(|()| file.sync_all())
                .map_err(fail("cannot be written"))?;
            match fs::hard_link(&draft, &path) {
                Ok(()) => is_new = true,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(fail("cannot be written")(error)),
            }
            fs::remove_file(&draft).map_err(fail("cannot be written"))?;
            sync_folder(self.path).map_err(fail("cannot be written"))?;
        }
        let secret = read_secret(&path)?;
        Ok(Kept { secret, path, is_new })
    }
}

/// Replaces the stored server secret. The old one stays beside it, with `suffix` behind its name: earlier backups need
/// it.
pub(crate) fn replace_secret(
    folder: &Path,
    secret: &Secret,
    suffix: &str,
) -> Result<PathBuf, DataFolderError> {
    let (path, draft) = (folder.join(SECRET_FILE), folder.join(format!(".{SECRET_FILE}.next")));
    let old = folder.join(format!("{SECRET_FILE}.{suffix}"));
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        writeln!(file, "{}", secret.reveal())?;
        file.sync_all()?;
        fs::hard_link(&path, &old)?;
        fs::rename(&draft, &path)?;
        sync_folder(folder)
    };
    match write() {
        Ok(()) => Ok(path),
        Err(source) => Err(DataFolderError { path, action: "cannot be written", source }),
    }
}

/// Reads a stored secret. Returns `None` if the file does not exist, and an inner error if it cannot be read or is too
/// short.
pub(crate) fn read_kept(folder: &Path, name: &str) -> Option<Result<Secret, DataFolderError>> {
    let path = folder.join(name);
    path.exists().then(|| read_secret(&path))
}

fn read_secret(path: &Path) -> Result<Secret, DataFolderError> {
    let fail = |action, source| DataFolderError { path: path.to_owned(), action, source };
    let text = fs::read_to_string(path).map_err(|error| fail("cannot be read", error))?;
    let secret = Secret::new(text.trim().to_owned());
    // A truncated file must not become an empty or short key, which an attacker could guess.
    if secret.reveal().len() < SHORTEST {
        let short = io::Error::other(format!(
            "it holds less than {SHORTEST} characters; delete it to have a new one made"
        ));
        return Err(fail("is no secret", short));
    }
    Ok(secret)
}

/// What says that a folder cannot be opened, or that its file system cannot sync folders.
const UNSYNCABLE: [Errno; 4] = [Errno::ACCESS, Errno::INVAL, Errno::NOTSUP, Errno::OPNOTSUPP];

/// Makes the names in a folder durable. A folder that cannot be synced is no failure: what is in place stays.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    let is_unsyncable =
        |error: &io::Error| Errno::from_io_error(error).is_some_and(|it| UNSYNCABLE.contains(&it));
    synced.or_else(|error| if is_unsyncable(&error) { Ok(()) } else { Err(error) })
}

/// Creates a folder and its missing parents, readable by their owner only (mode 700).
pub fn create_private(path: &Path) -> Result<(), DataFolderError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|source| DataFolderError {
        path: path.to_owned(),
        action: "the folder cannot be made",
        source,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::os::unix::fs::PermissionsExt;

    use latchkey_service::entropy::SystemEntropy;

    use super::*;

    #[test]
    fn a_secret_is_made_once_and_kept_private() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("data");
        let folder = DataFolder::open(&path).unwrap();
        let first = folder.server_secret(&SystemEntropy).unwrap();
        let second = folder.server_secret(&SystemEntropy).unwrap();
        assert!(first.is_new && !second.is_new);
        assert_eq!(first.secret.reveal(), second.secret.reveal());
        assert_eq!(first.secret.reveal().len(), 64);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&first.path)), (0o700, 0o600));
    }

    #[test]
    fn folder_that_cannot_be_synced_is_no_failure() {
        let proc = Path::new("/proc"); // its file system cannot sync folders
        assert!(File::open(proc).unwrap().sync_all().is_err());
        sync_folder(proc).unwrap();
        assert!(sync_folder(&proc.join("no-such-folder")).is_err());
    }

    #[test]
    fn an_emptied_file_is_no_secret() {
        let parent = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(parent.path()).unwrap();
        let path = folder.admin_key(&SystemEntropy).unwrap().path;
        fs::write(&path, "\n").unwrap();
        let refused = folder.admin_key(&SystemEntropy).err().unwrap().to_string();
        assert!(refused.contains("less than 32 characters"), "{refused}");
    }
}
