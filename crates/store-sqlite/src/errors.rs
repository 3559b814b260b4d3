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
    #[error("the transaction was rolled back: {0}")]
    RolledBack(String),
    #[error("an operation panicked")]
    Panicked,
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
    if is_passing(code.code) { unavailable(error) } else { driver(error) }
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

/// Whether the fault lies in the surroundings: locks, the disk, memory.
const fn is_passing(code: rusqlite::ErrorCode) -> bool {
    use rusqlite::ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, FileLockingProtocolFailed, OutOfMemory,
        PermissionDenied, ReadOnly, SystemIoFailure,
    };
    matches!(
        code,
        DatabaseBusy
            | DatabaseLocked
            | DiskFull
            | SystemIoFailure
            | ReadOnly
            | CannotOpen
            | PermissionDenied
            | OutOfMemory
            | FileLockingProtocolFailed
    )
}
