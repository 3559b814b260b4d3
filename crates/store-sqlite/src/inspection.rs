//! Inspection of a database file without changing it, for the operator's commands that check a configuration.

use std::path::Path;

use latchkey_domain::time::Timestamp;
use latchkey_store::{StoreResult, StoredSettings, StoredSigningKey};
use latchkey_store_operations::form::{Results, Script};
use latchkey_store_operations::tables::{kept_keys, settings, signing_keys};
use rusqlite::Connection;

use crate::errors::{Fallible, unavailable};
use crate::store::Sqlite;
use crate::{executor, migrations, open};

/// Migration that creates the settings table.
const SETTINGS_MADE_BY: &str = "0007_settings";

/// State of a database file that decides whether the service can start with it.
#[derive(Debug)]
pub struct Inspection {
    /// Names of migrations that are not yet applied, oldest first.
    pub missing: Vec<&'static str>,
    /// Signing keys that may verify a token, the current one first; empty if migrations are missing.
    pub signing_keys: Vec<StoredSigningKey>,
    /// True if a replacement of the server secret is not finished; false if migrations are missing.
    pub is_secret_replaced: bool,
}

impl Sqlite {
    /// Inspects an existing file and changes nothing. A service may have the file open. Refuses the same files as
    /// [`Sqlite::open`].
    pub fn inspect(path: &Path, now: Timestamp) -> StoreResult<Inspection> {
        let conn = open::passive_reader(path)?;
        let missing = migrations::check(&conn)?;
        let signing_keys = if missing.is_empty() { list_keys(&conn, now)? } else { Vec::new() };
        let is_secret_replaced = missing.is_empty() && is_secret_replaced(&conn)?;
        Ok(Inspection { missing, signing_keys, is_secret_replaced })
    }

    /// Reads the settings that are stored in a file and changes nothing. A service may have the file open. Returns
    /// `None` if there is no file or no settings table yet.
    pub fn stored_settings(path: &Path) -> StoreResult<Option<StoredSettings>> {
        if !path.try_exists().map_err(unavailable)? {
            return Ok(None);
        }
        let conn = open::passive_reader(path)?;
        if migrations::check(&conn)?.contains(&SETTINGS_MADE_BY) {
            return Ok(None);
        }
        Ok(Some(load_settings(&conn)?))
    }
}

pub(crate) fn list_keys(conn: &Connection, now: Timestamp) -> Fallible<Vec<StoredSigningKey>> {
    let (script, slot) = Script::of_read(&signing_keys::LIST, vec![now.into()]);
    executor::finish_read(conn, &script, |results: &Results<'_>| results.list(slot, signing_keys::read_key))
}

/// True if a replacement of the server secret is not finished.
pub(crate) fn is_secret_replaced(conn: &Connection) -> Fallible<bool> {
    let (script, slot) = Script::of_read(&kept_keys::FIND_UNFINISHED, Vec::new());
    executor::finish_read(conn, &script, |results: &Results<'_>| {
        Ok(results.find(slot, |_| Ok(()))?.is_some())
    })
}

fn load_settings(conn: &Connection) -> Fallible<StoredSettings> {
    let (script, slot) = Script::of_read(&settings::LIST, Vec::new());
    executor::finish_read(conn, &script, |results| settings::settings(results, slot))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn inspection_leaves_no_file_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b?c#d%41ä.db");
        drop(Sqlite::open(&path).unwrap());
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names(), 1);

        let inspection = Sqlite::inspect(&path, Timestamp::from_millis(0)).unwrap();

        assert!(inspection.missing.is_empty() && inspection.signing_keys.is_empty());
        assert_eq!(names(), 1);
    }

    #[test]
    fn inspection_of_an_open_file_sees_its_wal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let store = Sqlite::open(&path).unwrap();

        assert!(Sqlite::inspect(&path, Timestamp::from_millis(0)).unwrap().missing.is_empty());

        drop(store);
    }

    #[test]
    fn inspection_of_an_empty_file_lists_all_migrations_and_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        std::fs::write(&path, "").unwrap();

        let inspection = Sqlite::inspect(&path, Timestamp::from_millis(0)).unwrap();

        assert!(!inspection.missing.is_empty());
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
    }

    #[test]
    fn inspection_of_another_file_format_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        std::fs::write(&path, "a text, and no database at all\n".repeat(99)).unwrap();

        assert!(Sqlite::inspect(&path, Timestamp::from_millis(0)).is_err());
    }
}
