//! Creation of a database file. It is written under another name and gets its own when it is durable, so that a crash leaves
//! the whole schema or no file. One step waits for the disk, not seven.

use std::ffi::OsString;
use std::io::{Error, ErrorKind};
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use latchkey_store::StoreResult;
use tempfile::{Builder, NamedTempFile};

use crate::errors::{Fallible, unavailable};
use crate::{migrations, open};

/// Creates the file with the newest schema and a mark (mode 600), if there is none. If several processes start together, the
/// file of the first is kept.
pub(crate) fn create(path: &Path, mark: Option<NonZeroU32>) -> StoreResult<()> {
    if path.try_exists().map_err(unavailable)? {
        return Ok(());
    }
    let draft = draft_beside(path)?;
    fill(draft.path(), mark)?;
    draft.as_file().sync_all().map_err(unavailable)?;
    // The first write to the log syncs the folder, and with it this name.
    match draft.persist_noclobber(path) {
        Err(failed) if failed.error.kind() != ErrorKind::AlreadyExists => Err(unavailable(failed.error)),
        _ => Ok(()),
    }
}

fn draft_beside(path: &Path) -> StoreResult<NamedTempFile> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    let draft = Builder::new().prefix(&prefix).suffix(".new").tempfile_in(folder);
    // The whole error names the draft, which tells nobody anything.
    draft.map_err(|error| unavailable(Error::from(error.kind())))
}

fn fill(draft: &Path, mark: Option<NonZeroU32>) -> Fallible<()> {
    let conn = open::draft(draft)?;
    migrations::migrate(&conn, mark)?;
    open::switch_to_wal(&conn, Duration::ZERO)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_new_file_is_whole_and_alone_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.db");
        let mark = NonZeroU32::new(7);
        create(&path, mark).unwrap();
        assert_eq!(names(folder.path()), ["new.db"]);
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let conn = open::reader(&path, Duration::ZERO).unwrap();
        assert_eq!(migrations::mark_of(&conn).unwrap(), mark);
        assert!(migrations::check(&conn).unwrap().is_empty());
        let mode: String = conn.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
    }

    #[test]
    fn a_file_that_is_there_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.db");
        std::fs::write(&path, "something").unwrap();
        create(&path, None).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"something");
        assert_eq!(names(folder.path()), ["old.db"]);
    }

    #[test]
    fn of_two_that_create_the_same_file_one_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.db");
        let mark = |number| NonZeroU32::new(number);
        std::thread::scope(|scope| {
            let threads = [1, 2, 3].map(|number| {
                let path = &path;
                scope.spawn(move || create(path, mark(number)))
            });
            for thread in threads {
                thread.join().unwrap().unwrap();
            }
        });
        assert_eq!(names(folder.path()), ["new.db"]);
        assert!(migrations::mark_of(&open::reader_of_closed(&path).unwrap()).unwrap().is_some());
    }

    #[test]
    fn a_missing_folder_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let refused = create(&folder.path().join("none/new.db"), None).unwrap_err();
        assert!(format!("{refused:?}").contains("NotFound"), "{refused:?}");
    }
}
