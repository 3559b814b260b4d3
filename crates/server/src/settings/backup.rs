//! Section `backup`: backups that the service makes itself.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use latchkey_settings::{Entries, Problems, Reader, Value, duration, settings};

use super::{StorageUrl, data_folder};

/// Shortest interval of backups.
const SHORTEST: Duration = Duration::from_mins(1);
const WANTED: &str = "wanted a duration of a minute or more, such as 6h or 1d, or nothing for no backups";

settings! {
    /// Section `backup`: backups that the service makes itself.
    #[derive(Debug, Clone)]
    pub struct BackupSettings {
        /// SQLite only: the service backs up its database in this interval, beside its work, such as "6h". Empty: it makes
        /// none; `latchkey backup` makes one at any time.
        "backup.every" => every: Option<Duration> | read_every = "";
        /// Folder of these backups, in files of the form latchkey-20260301T120000Z.db, each with its manifest beside it.
        /// Better a folder on another disk. The metrics and /console/system have the age of its newest backup. Not set:
        /// backups inside data.dir.
        "backup.dir" => dir: PathBuf | read_dir = in_data_folder, "./latchkey-data/backups";
        /// Number of backups that are kept in the folder; older ones of that form are deleted after each new one.
        "backup.keep" => keep: NonZeroUsize [1..=10_000] | read_keep = 7;
    }
}

impl BackupSettings {
    /// Checks that the service can make the backups that it is asked for.
    pub(super) fn check(&self, storage: &StorageUrl, problems: &mut Problems) {
        if self.every.is_some() && matches!(storage, StorageUrl::Postgres(_)) {
            let sentence =
                "it is for SQLite; on PostgreSQL schedule pg_dump or base backups, and leave it empty";
            problems.rule(&["backup.every", "storage.url"], sentence);
        }
    }
}

fn read_every(reader: &mut Reader<'_>, key: &'static str) -> Option<Duration> {
    reader.parse(key, |text| duration::parse(text).filter(|every| *every >= SHORTEST).ok_or(WANTED))
}

fn read_dir(reader: &mut Reader<'_>, key: &'static str) -> PathBuf {
    PathBuf::from(reader.text(key))
}

fn read_keep(reader: &mut Reader<'_>, key: &'static str) -> NonZeroUsize {
    NonZeroUsize::new(reader.number(key)).unwrap_or(NonZeroUsize::MIN)
}

#[expect(clippy::unnecessary_wraps, reason = "the type of a setting's default")]
fn in_data_folder(entries: &Entries) -> Option<Value> {
    Some(Value::Text(format!("{}/backups", data_folder(entries))))
}
