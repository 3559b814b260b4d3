//! A look at a file before anything works on it: for the checks of an operator.

use std::path::Path;

use latchkey_domain::time::Timestamp;
use latchkey_store::{StoreResult, StoredSettings, StoredSigningKey};
use latchkey_store_operations::form::{Results, Script};
use latchkey_store_operations::tables::{settings, signing_keys};
use rusqlite::Connection;

use crate::errors::{Fallible, unavailable};
use crate::store::Sqlite;
use crate::{executor, migrations, open};

/// The migration that makes the table of the settings.
const SETTINGS_MADE_BY: &str = "0007_settings";

/// Facts of a file that a start depends on.
#[derive(Debug)]
pub struct Look {
    /// The names of the migrations that are missing, oldest first.
    pub missing: Vec<&'static str>,
    /// The signing keys in use, the signing one first; empty while migrations are missing.
    pub signing_keys: Vec<StoredSigningKey>,
}

impl Sqlite {
    /// Looks at a file that exists, beside a running service or without one; changes nothing. Refuses what
    /// [`Sqlite::open`] refuses.
    pub fn look(path: &Path, now: Timestamp) -> StoreResult<Look> {
        let conn = open::onlooker(path)?;
        let missing = migrations::check(&conn)?;
        let signing_keys = if missing.is_empty() { list_keys(&conn, now)? } else { Vec::new() };
        Ok(Look { missing, signing_keys })
    }

    /// The settings that a file holds, without opening it for work: nothing is made, migrated or written, and a service
    /// may have it open. `None` where there is no file, or none with settings yet.
    pub fn stored_settings(path: &Path) -> StoreResult<Option<StoredSettings>> {
        if !path.try_exists().map_err(unavailable)? {
            return Ok(None);
        }
        let conn = open::onlooker(path)?;
        if migrations::check(&conn)?.contains(&SETTINGS_MADE_BY) {
            return Ok(None);
        }
        Ok(Some(load_settings(&conn)?))
    }
}

fn list_keys(conn: &Connection, now: Timestamp) -> Fallible<Vec<StoredSigningKey>> {
    let (script, slot) = Script::of_read(&signing_keys::LIST, vec![now.into()]);
    executor::finish_read(conn, &script, |results: &Results<'_>| results.list(slot, signing_keys::read_key))
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
    fn a_look_leaves_no_file_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b?c#d%41ä.db");
        drop(Sqlite::open(&path).unwrap());
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names(), 1);

        let look = Sqlite::look(&path, Timestamp::from_millis(0)).unwrap();

        assert!(look.missing.is_empty() && look.signing_keys.is_empty());
        assert_eq!(names(), 1);
    }

    #[test]
    fn a_look_beside_an_open_file_sees_what_is_in_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let store = Sqlite::open(&path).unwrap();

        assert!(Sqlite::look(&path, Timestamp::from_millis(0)).unwrap().missing.is_empty());

        drop(store);
    }

    #[test]
    fn a_look_at_an_empty_file_misses_everything_and_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        std::fs::write(&path, "").unwrap();

        let look = Sqlite::look(&path, Timestamp::from_millis(0)).unwrap();

        assert!(!look.missing.is_empty());
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
    }

    #[test]
    fn a_look_at_what_is_no_database_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        std::fs::write(&path, "a text, and no database at all\n".repeat(99)).unwrap();

        assert!(Sqlite::look(&path, Timestamp::from_millis(0)).is_err());
    }
}
