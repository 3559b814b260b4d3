//! Folder of backups: their names, the newest one, and the deletion of old ones. A backup is a file of our form whose
//! manifest is beside it; other files are left alone.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use latchkey_domain::time::Timestamp;
use latchkey_service::backups::NewestBackup;

use super::BackupError;
use super::manifest::{Manifest, size_of};

const PREFIX: &str = "latchkey-";
const SUFFIX: &str = ".db";

/// Name of a backup: the time to the second, and a number that tells backups of one second apart. The order is that of
/// age.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    /// Time in the form `20260301T120000Z`.
    time: String,
    number: u32,
}

impl Name {
    fn new(now: Timestamp, number: u32) -> Self {
        let text = now.to_rfc3339();
        let digits = text.get(..19).unwrap_or(&text).replace(['-', ':'], "");
        Self { time: format!("{digits}Z"), number }
    }

    fn parse(text: &str) -> Option<Self> {
        let inner = text.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
        let (time, number) = match inner.split_once('-') {
            Some((time, number)) => (time, number.parse().ok().filter(|number| *number > 1)?),
            None => (inner, 1),
        };
        let has_form = time.len() == 16
            && time.bytes().enumerate().all(|(at, byte)| match at {
                8 => byte == b'T',
                15 => byte == b'Z',
                _ => byte.is_ascii_digit(),
            });
        let name = Self { time: time.to_owned(), number };
        (has_form && name.to_file() == text).then_some(name)
    }

    fn to_file(&self) -> String {
        match self.number {
            1 => format!("{PREFIX}{}{SUFFIX}", self.time),
            number => format!("{PREFIX}{}-{number}{SUFFIX}", self.time),
        }
    }
}

/// Returns the paths that a backup of this moment may have, the first one first.
pub(super) fn names(folder: &Path, now: Timestamp) -> impl Iterator<Item = PathBuf> {
    (1..=9_999).map(move |number| folder.join(Name::new(now, number).to_file()))
}

/// Lists the backups of a folder, oldest first. A missing folder has none.
pub(super) fn list(folder: &Path) -> Result<Vec<PathBuf>, BackupError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(BackupError::file(folder, "cannot be read")(error)),
    };
    let names = entries.flatten().filter_map(|entry| Name::parse(entry.file_name().to_str()?));
    let mut found: Vec<_> = names.map(|name| (folder.join(name.to_file()), name)).collect();
    found.retain(|(path, _)| size_of(path).is_some() && size_of(&Manifest::path_of(path)).is_some());
    found.sort_by(|(_, one), (_, other)| one.cmp(other));
    Ok(found.into_iter().map(|(path, _)| path).collect())
}

/// Deletes all backups of a folder but the newest ones. Returns the deleted ones.
pub(super) fn prune(folder: &Path, keep: NonZeroUsize) -> Result<Vec<PathBuf>, BackupError> {
    let mut old = list(folder)?;
    old.truncate(old.len().saturating_sub(keep.get()));
    for path in &old {
        for file in [path.clone(), Manifest::path_of(path)] {
            match fs::remove_file(&file) {
                // Another process deletes the same ones.
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(BackupError::file(&file, "cannot be deleted")(error));
                }
                _ => {}
            }
        }
    }
    Ok(old)
}

/// Returns the newest backup of a folder whose manifest can be read.
pub fn newest(folder: &Path) -> Result<Option<NewestBackup>, BackupError> {
    let manifests = list(folder)?.into_iter().rev().filter_map(|path| Manifest::read(&path).ok().flatten());
    let mut found = manifests.filter_map(|manifest| {
        Some(NewestBackup { created_at: manifest.created_at()?, bytes: manifest.bytes })
    });
    Ok(found.next())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_772_366_400_007);

    fn folder_with(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            fs::write(folder.path().join(name), "x").unwrap();
            fs::write(folder.path().join(format!("{name}.json")), "{}").unwrap();
        }
        folder
    }

    fn remaining(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn names_of_one_second_are_numbered() {
        let folder = Path::new("b");
        let names: Vec<_> = names(folder, NOON).take(2).collect();
        assert_eq!(names[0], folder.join("latchkey-20260301T120000Z.db"));
        assert_eq!(names[1], folder.join("latchkey-20260301T120000Z-2.db"));
    }

    #[test]
    fn only_files_of_our_form_are_backups() {
        for name in [
            "latchkey.db",
            "latchkey-20260301T120000Z.db.json",
            "latchkey-20260301T120000Z-1.db",
            "latchkey-20260301T120000Z-02.db",
            "latchkey-20260301x120000Z.db",
            "latchkey-2026030112000000.db",
            "my-latchkey-20260301T120000Z.db",
            "latchkey-20260301T120000Z.db.old",
        ] {
            assert!(Name::parse(name).is_none(), "{name}");
        }
        assert!(
            Name::parse("latchkey-20260301T120000Z-10.db") > Name::parse("latchkey-20260301T120000Z-9.db")
        );
    }

    #[test]
    fn pruning_keeps_the_newest_and_everything_that_is_not_ours() {
        let (old, middle, new) = (
            "latchkey-20260301T120000Z.db",
            "latchkey-20260301T120000Z-2.db",
            "latchkey-20260401T120000Z.db",
        );
        let folder = folder_with(&[new, old, middle, "notes.db"]);
        let torn = "latchkey-20250101T000000Z.db"; // without a manifest
        fs::write(folder.path().join(torn), "x").unwrap();

        let deleted = prune(folder.path(), NonZeroUsize::new(2).unwrap()).unwrap();

        assert_eq!(deleted, [folder.path().join(old)]);
        let files = [middle, new, "notes.db"].map(|name| [name.to_owned(), format!("{name}.json")]).concat();
        let mut expected = [files, vec![torn.to_owned()]].concat();
        expected.sort();
        assert_eq!(remaining(folder.path()), expected);
    }

    #[test]
    fn missing_folder_has_no_backup() {
        assert_eq!(newest(Path::new("/nowhere/at/all")).unwrap(), None);
    }
}
