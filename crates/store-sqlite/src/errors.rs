//! From what SQLite says to what the contract knows.

use latchkey_store::{StoreError, UniqueKey};
use rusqlite::ffi;

/// The result of a statement, and of what is made of statements.
pub(crate) type Fallible<T> = Result<T, Fault>;

/// A [`StoreError`] into which `?` turns the driver's errors.
#[derive(Debug)]
pub(crate) struct Fault(StoreError);

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self(error)
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        fault.0
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self(classify(error))
    }
}

/// Work was not done, for a reason of this engine's own.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EngineFault {
    #[error("the threads of the store have stopped")]
    Stopped,
    #[error("nothing of the transaction is kept: {0}")]
    NotKept(String),
    #[error("the storage is closed: its files are not in their place")]
    NotInPlace,
    #[error("a statement of the engine yielded no such result")]
    NoResult,
    #[error("an operation panicked")]
    Panicked,
}

/// What SQLite says, with its code and what to do: the log and a refused start show it.
#[derive(Debug, thiserror::Error)]
#[error("{said} (SQLite code {code}): {mend}")]
struct SurroundingFault {
    said: String,
    code: i32,
    mend: &'static str,
}

/// The storage does not work now.
pub(crate) fn unavailable(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Unavailable(Box::new(error))
}

/// The driver failed in a way that another try will not mend.
pub(crate) fn driver(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Driver(Box::new(error))
}

fn classify(error: rusqlite::Error) -> StoreError {
    let rusqlite::Error::SqliteFailure(code, message) = &error else {
        return driver(error);
    };
    if let Some(key) = message.as_deref().and_then(|text| unique_key(code.extended_code, text)) {
        return StoreError::Conflict(key);
    }
    let Some(mend) = mend_of(code.code) else { return driver(error) };
    let code = code.extended_code;
    unavailable(SurroundingFault { said: error.to_string(), code, mend })
}

fn unique_key(extended_code: i32, message: &str) -> Option<UniqueKey> {
    if extended_code != ffi::SQLITE_CONSTRAINT_UNIQUE {
        return None;
    }
    let column = message.rsplit(' ').next().unwrap_or_default();
    match column {
        "users.email_key" => Some(UniqueKey::UserEmail),
        "profiles.username" => Some(UniqueKey::Username),
        _ => None,
    }
}

/// What to do about a fault of the surroundings: locks, the disk, the file, memory. `None` for faults of a statement.
const fn mend_of(code: rusqlite::ErrorCode) -> Option<&'static str> {
    use rusqlite::ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, FileLockingProtocolFailed,
        NotADatabase, OutOfMemory, PermissionDenied, ReadOnly, SystemIoFailure,
    };
    match code {
        DatabaseBusy | DatabaseLocked | FileLockingProtocolFailed => {
            Some("another process holds the database; let it finish, or end it")
        }
        CannotOpen | PermissionDenied | ReadOnly => Some(
            "the service must be able to write the file, its -wal and -shm, and their folder; check owner, mode and \
             mount",
        ),
        DiskFull => Some("free space on the disk"),
        SystemIoFailure => Some("check the disk, its free space and quota, and the log of the system"),
        DatabaseCorrupt => Some("the file is damaged; stop the service and restore a backup"),
        NotADatabase => Some("mend storage.url, or stop the service and restore a backup"),
        OutOfMemory => Some("give the machine more memory"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(extended_code: i32) -> StoreError {
        classify(rusqlite::Error::SqliteFailure(ffi::Error::new(extended_code), None))
    }

    #[test]
    fn a_disk_that_cannot_be_read_is_unavailable_and_says_what_to_do() {
        for code in
            [ffi::SQLITE_IOERR_READ, ffi::SQLITE_IOERR_SHORT_READ, ffi::SQLITE_CORRUPT, ffi::SQLITE_FULL]
        {
            let StoreError::Unavailable(fault) = sorted(code) else { panic!("{code}") };
            let text = fault.to_string();
            assert!(text.contains(&format!("(SQLite code {code}): ")), "{text}");
        }
    }

    #[test]
    fn a_wrong_statement_is_no_fault_of_the_disk() {
        assert!(matches!(sorted(ffi::SQLITE_ERROR), StoreError::Driver(_)));
    }
}
