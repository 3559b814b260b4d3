//! Mapping of SQLite's errors to the [`StoreError`]s of the storage contract.

use latchkey_store::{StoreError, UniqueKey};
use rusqlite::ffi;

/// Result of executing statements and decoding their rows.
pub(crate) type Fallible<T> = Result<T, Fault>;

/// A [`StoreError`] into which `?` converts the driver's errors.
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

/// Failures of the engine itself, not of SQLite.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EngineFault {
    #[error("the threads of the store have stopped")]
    Stopped,
    #[error("the transaction was rolled back: {0}")]
    RolledBack(String),
    #[error("the storage is closed: its files are not in their place")]
    NotInPlace,
    #[error("a statement of the engine yielded no such result")]
    NoResult,
    #[error("an operation panicked")]
    Panicked,
}

/// SQLite's message with its code and a remedy, for the log and for the message of a failed start.
#[derive(Debug, thiserror::Error)]
#[error("{said} (SQLite code {code}): {remedy}")]
struct EnvironmentFault {
    said: String,
    code: i32,
    remedy: &'static str,
}

/// Wraps an error that a retry may overcome.
pub(crate) fn unavailable(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Unavailable(Box::new(error))
}

/// Wraps an error of the driver that a retry would meet again.
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
    let Some(remedy) = remedy_for(code.code) else { return driver(error) };
    let code = code.extended_code;
    unavailable(EnvironmentFault { said: error.to_string(), code, remedy })
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

/// Returns the remedy for a fault of locks, disk, file or memory, and `None` for a fault of a statement.
const fn remedy_for(code: rusqlite::ErrorCode) -> Option<&'static str> {
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
        NotADatabase => Some("correct storage.url, or stop the service and restore a backup"),
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
    fn unreadable_disk_is_unavailable_with_a_remedy() {
        for code in
            [ffi::SQLITE_IOERR_READ, ffi::SQLITE_IOERR_SHORT_READ, ffi::SQLITE_CORRUPT, ffi::SQLITE_FULL]
        {
            let StoreError::Unavailable(fault) = sorted(code) else { panic!("{code}") };
            let text = fault.to_string();
            assert!(text.contains(&format!("(SQLite code {code}): ")), "{text}");
        }
    }

    #[test]
    fn invalid_statement_is_not_an_environment_fault() {
        assert!(matches!(sorted(ffi::SQLITE_ERROR), StoreError::Driver(_)));
    }
}
