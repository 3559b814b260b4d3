//! A look at a file before anything works on it: for the checks of an operator.

use std::path::Path;

use latchkey_domain::time::Timestamp;
use latchkey_store::{StoreResult, StoredSigningKey};

use crate::store::SqliteStore;
use crate::{migrations, open, signing_keys};

/// Facts of a file that a start depends on.
#[derive(Debug)]
pub struct Look {
    /// The names of the migrations that are missing, oldest first.
    pub missing: Vec<&'static str>,
    /// The signing keys in use, the signing one first; empty while migrations are missing.
    pub signing_keys: Vec<StoredSigningKey>,
}

impl SqliteStore {
    /// Looks at a file that exists, beside a running service or without one; changes nothing. Refuses what
    /// [`SqliteStore::open`] refuses.
    pub fn look(path: &Path, now: Timestamp) -> StoreResult<Look> {
        let conn = open::onlooker(path)?;
        let missing = migrations::check(&conn)?;
        let signing_keys = if missing.is_empty() { signing_keys::list_keys(&conn, now)? } else { Vec::new() };
        Ok(Look { missing, signing_keys })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_look_leaves_no_file_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b?c#d%41ä.db");
        SqliteStore::open(&path).unwrap().close();
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names(), 1);

        let look = SqliteStore::look(&path, Timestamp::from_millis(0)).unwrap();

        assert!(look.missing.is_empty() && look.signing_keys.is_empty());
        assert_eq!(names(), 1);
    }

    #[test]
    fn a_look_beside_an_open_file_sees_what_is_in_its_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let store = SqliteStore::open(&path).unwrap();

        assert!(SqliteStore::look(&path, Timestamp::from_millis(0)).unwrap().missing.is_empty());

        drop(store);
    }

    #[test]
    fn a_look_at_an_empty_file_misses_everything_and_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        std::fs::write(&path, "").unwrap();

        let look = SqliteStore::look(&path, Timestamp::from_millis(0)).unwrap();

        assert!(!look.missing.is_empty());
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
    }

    #[test]
    fn a_look_at_what_is_no_database_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        std::fs::write(&path, "a text, and no database at all\n".repeat(99)).unwrap();

        assert!(SqliteStore::look(&path, Timestamp::from_millis(0)).is_err());
    }
}
