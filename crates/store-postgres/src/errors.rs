//! From what PostgreSQL and the pool say to what the contract knows, and what helps against it.

use deadpool_postgres::PoolError;
use latchkey_store::{StoreError, UniqueKey};
use tokio_postgres::error::{DbError, SqlState};

/// The result of statements, and of what is made of them.
pub(crate) type Fallible<T> = Result<T, Fault>;

/// What may help against a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Nothing that this engine could do.
    None,
    /// The server took everything back because of another transaction: the whole operation once more.
    Again,
    /// Another connection, to another server perhaps.
    Reconnect,
}

/// A [`StoreError`] into which `?` turns the driver's errors, with its remedy.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) error: StoreError,
    pub(crate) remedy: Remedy,
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self { error, remedy: Remedy::None }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        fault.error
    }
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(said) => {
                let (kind, remedy) = (Kind::of(said), remedy(said.code()));
                Self { error: kind.of_error(&error), remedy }
            }
            // Without a word of the server: values are read elsewhere, so this is about the connection.
            None => Self { error: unavailable(error), remedy: Remedy::Reconnect },
        }
    }
}

impl From<PoolError> for Fault {
    fn from(error: PoolError) -> Self {
        unavailable(error).into()
    }
}

/// What the server says of a statement that failed, without its DETAIL: rows stand there, addresses and hashes with
/// them, and errors go into the log.
#[derive(Debug, thiserror::Error)]
#[error("{message} (SQLSTATE {}{}){}", code.code(), at(table.as_deref(), constraint.as_deref()), advice(code))]
pub(crate) struct ServerFault {
    pub(crate) code: SqlState,
    pub(crate) message: String,
    table: Option<String>,
    constraint: Option<String>,
}

impl ServerFault {
    fn of(error: &tokio_postgres::Error) -> Self {
        let Some(said) = error.as_db_error() else {
            let (code, message) = (SqlState::INTERNAL_ERROR, error.to_string());
            return Self { code, message, table: None, constraint: None };
        };
        Self {
            code: said.code().clone(),
            message: message_of(said),
            table: said.table().map(str::to_owned),
            constraint: said.constraint().map(str::to_owned),
        }
    }

    /// The code, where an error is one of the server.
    pub(crate) fn code_of(error: &StoreError) -> Option<&SqlState> {
        let (StoreError::Unavailable(source) | StoreError::Driver(source)) = error else { return None };
        source.downcast_ref::<Self>().map(|fault| &fault.code)
    }
}

/// The server's words; those about a value that it refuses quote the value.
fn message_of(said: &DbError) -> String {
    let is_about_data = said.code().code().starts_with("22");
    if is_about_data { "a value was refused".to_owned() } else { said.message().to_owned() }
}

/// What the operator can do.
fn advice(code: &SqlState) -> &'static str {
    match code.code() {
        "42501" => "; grant the user its rights: docs/operations.md, PostgreSQL, Roles and rights",
        "42P01" | "42703" | "42883" | "3F000" => {
            "; run `latchkey migrate`, and see that the user's search_path leads to the service's schema"
        }
        "53100" => "; free space on the server's disk",
        "53300" => "; lower storage.postgres.pool_size or raise the server's max_connections",
        "57014" => "; storage.postgres.statement_timeout ended it: look for locks and load at the server",
        "25006" => "; the server only reads: name the primary in storage.url",
        "XX001" | "XX002" => "; data of the server is damaged: restore a backup",
        "58030" | "58P01" => "; check the server's disk",
        _ => "",
    }
}

fn at(table: Option<&str>, constraint: Option<&str>) -> String {
    let named =
        |kind: &str, name: Option<&str>| name.map(|name| format!(", {kind} {name}")).unwrap_or_default();
    named("table", table) + &named("constraint", constraint)
}

/// Work was not done, for a reason of this engine's own.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EngineFault {
    #[error("the server did not answer in time")]
    Silent,
    #[error("a statement of the engine yielded no row")]
    NoRow,
    #[error("what was to be locked changed meanwhile, again and again")]
    Moved,
}

/// The storage does not work now.
pub(crate) fn unavailable(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Unavailable(Box::new(error))
}

/// Somebody came in between: the whole operation once more.
pub(crate) fn again(error: impl std::error::Error + Send + Sync + 'static) -> Fault {
    Fault { error: unavailable(error), remedy: Remedy::Again }
}

/// The driver failed in a way that another try will not mend.
pub(crate) fn driver(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Driver(Box::new(error))
}

enum Kind {
    Conflict(UniqueKey),
    Unavailable,
    Driver,
}

impl Kind {
    fn of(said: &DbError) -> Self {
        if let Some(key) = unique_key(said) {
            return Self::Conflict(key);
        }
        if is_passing(said.code()) { Self::Unavailable } else { Self::Driver }
    }

    fn of_error(self, error: &tokio_postgres::Error) -> StoreError {
        match self {
            Self::Conflict(key) => StoreError::Conflict(key),
            Self::Unavailable => unavailable(ServerFault::of(error)),
            Self::Driver => driver(ServerFault::of(error)),
        }
    }
}

fn unique_key(said: &DbError) -> Option<UniqueKey> {
    if *said.code() != SqlState::UNIQUE_VIOLATION {
        return None;
    }
    match said.constraint()? {
        "users_email_key_key" => Some(UniqueKey::UserEmail),
        "profiles_username_key" => Some(UniqueKey::Username),
        _ => None,
    }
}

/// Whether the fault lies in the surroundings: other transactions, load, limits, rights, a server that stops or only
/// reads.
fn is_passing(code: &SqlState) -> bool {
    // 08 connection, 40 rollback, 53 resources, 57 intervention (stop, cancel, timeout), 58 disk. What is damaged on
    // the disk is of class XX.
    let is_of_class = ["08", "40", "53", "57", "58"].iter().any(|class| code.code().starts_with(class));
    let is_other = [
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::INSUFFICIENT_PRIVILEGE,
        SqlState::DATA_CORRUPTED,
        SqlState::INDEX_CORRUPTED,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::IN_FAILED_SQL_TRANSACTION,
        SqlState::UNIQUE_VIOLATION,
        SqlState::FOREIGN_KEY_VIOLATION,
    ]
    .contains(code);
    is_of_class || is_other
}

/// A unique or a foreign key that breaks means a row that came or went since it was looked for: every operation
/// looks first, and locks what it finds.
fn remedy(code: &SqlState) -> Remedy {
    let again = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::UNIQUE_VIOLATION,
        SqlState::FOREIGN_KEY_VIOLATION,
    ];
    // A server that only reads now was the primary before; a statement that is unknown or stale was prepared on
    // another connection or for another schema.
    let reconnect = [
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::INVALID_SQL_STATEMENT_NAME,
        SqlState::FEATURE_NOT_SUPPORTED,
    ];
    // Class 08: what a pooler says before it closes a connection.
    let is_of_connection = code.code().starts_with("08");
    if again.contains(code) {
        Remedy::Again
    } else if is_of_connection || reconnect.contains(code) {
        Remedy::Reconnect
    } else {
        Remedy::None
    }
}
