//! Folder of backups: their names, the newest one, and the deletion of old ones. A backup is a file of our form whose
//! manifest is beside it; other files are left alone.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use latchkey_domain::time::Timestamp;
use latchkey_service::backups::NewestBackup;

use super::BackupError;
use super::manifest::{Manifest, Owner, size_of};

const PREFIX: &str = "latchkey-";
const SUFFIX: &str = ".db";
/// Time by which a backup may be ahead of the clock, because another machine made it, or the clock was corrected.
const AHEAD: Duration = Duration::from_mins(1);

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

/// What a folder has of the backups of a database.
#[derive(Debug, Default)]
pub struct Look {
    /// Backups, oldest first.
    ours: Vec<(PathBuf, Manifest)>,
    /// Backups of this database whose time is ahead of the clock. They are not counted, and not deleted: either the clock
    /// was wrong when they were made, or it is wrong now.
    pub ahead: Vec<PathBuf>,
    /// Backups whose manifest cannot be read. They are not counted, and not deleted.
    pub unreadable: Vec<PathBuf>,
    /// Number of backups of other databases, which are left alone.
    pub others: usize,
}

impl Look {
    /// Returns the newest backup.
    #[must_use]
    pub fn newest(&self) -> Option<NewestBackup> {
        let times = self.ours.iter().filter_map(|(_, manifest)| {
            Some(NewestBackup { created_at: manifest.created_at()?, bytes: manifest.bytes })
        });
        times.max_by_key(|backup| backup.created_at)
    }
}

/// Looks for the backups of a database in a folder. A missing folder has none.
pub fn look(folder: &Path, owner: &Owner, now: Timestamp) -> Result<Look, BackupError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Look::default()),
        Err(error) => return Err(BackupError::file(folder, "cannot be read")(error)),
    };
    let mut names: Vec<_> =
        entries.flatten().filter_map(|entry| Name::parse(entry.file_name().to_str()?)).collect();
    names.sort();
    let latest = now.plus(AHEAD);
    let latest_name = Name::new(latest, u32::MAX);
    let mut look = Look::default();
    for name in names {
        let path = folder.join(name.to_file());
        if size_of(&path).is_none() || size_of(&Manifest::path_of(&path)).is_none() {
            continue;
        }
        let manifest = match Manifest::read(&path) {
            Ok(Some(manifest)) => manifest,
            Ok(None) => continue,
            Err(_) => {
                look.unreadable.push(path);
                continue;
            }
        };
        let is_ahead = name > latest_name || manifest.created_at().is_some_and(|at| at > latest);
        match (owner.has(&manifest), is_ahead) {
            (false, _) => look.others += 1,
            (true, true) => look.ahead.push(path),
            (true, false) => look.ours.push((path, manifest)),
        }
    }
    Ok(look)
}

/// Deletes all backups of a database but the newest ones and `made`, the one that was made just now. Returns the deleted
/// ones, and why others could not be deleted.
pub(super) fn prune(look: &Look, keep: NonZeroUsize, made: &Path) -> (Vec<PathBuf>, Vec<BackupError>) {
    let mut old: Vec<_> =
        look.ours.iter().map(|(path, _)| path.clone()).filter(|path| path != made).collect();
    // `made` is one of those that stay.
    old.truncate((old.len() + 1).saturating_sub(keep.get()));
    let (mut deleted, mut faults) = (Vec::new(), Vec::new());
    for path in old {
        match [path.clone(), Manifest::path_of(&path)].iter().try_for_each(|file| delete(file)) {
            Ok(()) => deleted.push(path),
            Err(fault) => faults.push(fault),
        }
    }
    (deleted, faults)
}

fn delete(file: &Path) -> Result<(), BackupError> {
    match fs::remove_file(file) {
        // Another process deletes the same ones.
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(BackupError::file(file, "cannot be deleted")(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_772_366_400_007);

    const LATER: Timestamp = Timestamp::from_millis(1_780_000_000_000);

    fn owner(database: Option<&str>) -> Owner {
        Owner { database: database.map(str::to_owned), secret_fingerprint: "f".to_owned() }
    }

    fn put(folder: &Path, name: &str, owner: &Owner) {
        let manifest = Manifest {
            sha256: String::new(),
            bytes: 1,
            created_at: NOON.to_rfc3339(),
            version: String::new(),
            migration: String::new(),
            users: 0,
            secret_fingerprint: owner.secret_fingerprint.clone(),
            database: owner.database.clone(),
        };
        fs::write(folder.join(name), "x").unwrap();
        fs::write(folder.join(format!("{name}.json")), manifest.to_line()).unwrap();
    }

    fn folder_with(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            put(folder.path(), name, &owner(Some("a")));
        }
        folder
    }

    fn pruned(folder: &Path, keep: usize, made: &str) -> Vec<PathBuf> {
        let look = look(folder, &owner(Some("a")), LATER).unwrap();
        let (deleted, faults) = prune(&look, NonZeroUsize::new(keep).unwrap(), &folder.join(made));
        assert!(faults.is_empty(), "{faults:?}");
        deleted
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

        let deleted = pruned(folder.path(), 2, new);

        assert_eq!(deleted, [folder.path().join(old)]);
        let files = [middle, new, "notes.db"].map(|name| [name.to_owned(), format!("{name}.json")]).concat();
        let mut expected = [files, vec![torn.to_owned()]].concat();
        expected.sort();
        assert_eq!(remaining(folder.path()), expected);
    }

    #[test]
    fn backup_that_cannot_be_deleted_holds_up_no_other() {
        let (stuck, old, made) =
            ("latchkey-20260301T120000Z.db", "latchkey-20260302T120000Z.db", "latchkey-20260401T120000Z.db");
        let folder = folder_with(&[stuck, old, made]);
        let look = look(folder.path(), &owner(Some("a")), LATER).unwrap();
        fs::remove_file(folder.path().join(stuck)).unwrap();
        fs::create_dir(folder.path().join(stuck)).unwrap(); // no file, so it is not deleted as one

        let (deleted, faults) = prune(&look, NonZeroUsize::MIN, &folder.path().join(made));

        assert_eq!(deleted, [folder.path().join(old)]);
        assert_eq!(faults.len(), 1, "{faults:?}");
    }

    #[test]
    fn backup_whose_manifest_cannot_be_read_is_named() {
        let name = "latchkey-20260301T120000Z.db";
        let folder = folder_with(&[name]);
        fs::write(folder.path().join(format!("{name}.json")), "no manifest").unwrap();

        let found = look(folder.path(), &owner(Some("a")), LATER).unwrap();

        assert_eq!((found.unreadable, found.ours.len()), (vec![folder.path().join(name)], 0));
    }

    #[test]
    fn backup_of_a_future_time_neither_counts_nor_is_deleted() {
        let (old, made, future) =
            ("latchkey-20260301T120000Z.db", "latchkey-20260401T120000Z.db", "latchkey-20310101T000000Z.db");
        let folder = folder_with(&[old, made, future]);

        let found = look(folder.path(), &owner(Some("a")), LATER).unwrap();
        let deleted = pruned(folder.path(), 1, made);

        assert_eq!(found.ahead, [folder.path().join(future)]);
        assert_eq!(found.newest().map(|newest| newest.created_at), Timestamp::parse(&NOON.to_rfc3339()));
        assert_eq!(deleted, [folder.path().join(old)]);
        assert!(folder.path().join(future).exists());
    }

    #[test]
    fn backup_that_was_just_made_is_never_deleted() {
        let (made, other) = ("latchkey-20260301T120000Z.db", "latchkey-20260401T120000Z.db");
        let folder = folder_with(&[made, other]); // the clock was set back

        assert_eq!(pruned(folder.path(), 1, made), [folder.path().join(other)]);
    }

    #[test]
    fn backups_of_another_database_neither_count_nor_are_deleted() {
        let (theirs, early, foreign, made) = (
            "latchkey-20260101T120000Z.db",
            "latchkey-20260201T120000Z.db",
            "latchkey-20260202T120000Z.db",
            "latchkey-20260301T120000Z.db",
        );
        let folder = folder_with(&[made]);
        put(folder.path(), theirs, &owner(Some("b")));
        put(folder.path(), early, &owner(None)); // of an earlier version, under the same secret
        put(folder.path(), foreign, &Owner { database: None, secret_fingerprint: "g".to_owned() });

        let found = look(folder.path(), &owner(Some("b")), LATER).unwrap();

        assert_eq!((found.others, found.ours.len()), (2, 2), "{found:?}");
        assert_eq!(pruned(folder.path(), 1, made), [folder.path().join(early)]);
        assert!(folder.path().join(theirs).exists() && folder.path().join(foreign).exists());
    }

    #[test]
    fn missing_folder_has_no_backup() {
        let look = look(Path::new("/nowhere/at/all"), &owner(None), NOON).unwrap();
        assert_eq!(look.newest(), None);
    }
}
