//! Mapping of the errors of PostgreSQL and of the connection pool to the [`StoreError`]s of the storage contract, each
//! with the engine's remedy.

use deadpool::managed::PoolError;
use latchkey_store::{StoreError, UniqueKey};
use tokio_postgres::error::{DbError, SqlState};

/// Result of executing statements and decoding their rows.
pub(crate) type Fallible<T> = Result<T, Fault>;

/// The engine's reaction to an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// The error is returned to the caller.
    None,
    /// The whole operation is retried, because the server rolled it back after a conflict with another
    /// transaction.
    Retry,
    /// The operation is retried on another connection, possibly to another server.
    Reconnect,
}

/// Codes of errors about the names of prepared statements.
const NAMES: [SqlState; 2] = [SqlState::INVALID_SQL_STATEMENT_NAME, SqlState::DUPLICATE_PSTATEMENT];

/// A [`StoreError`] with the engine's reaction to it. `?` converts the driver's errors into a `Fault`.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) error: StoreError,
    pub(crate) remedy: Remedy,
}

impl Fault {
    /// True if the name of a prepared statement was unknown or taken on the server.
    pub(crate) fn is_of_statement_name(&self) -> bool {
        let code = ServerFault::code_of(&self.error);
        code.is_some_and(|code| NAMES.contains(code))
    }
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
            // An error without a message of the server concerns the connection, because values are decoded elsewhere.
            None => Self { error: unavailable(error), remedy: Remedy::Reconnect },
        }
    }
}

impl From<PoolError<tokio_postgres::Error>> for Fault {
    fn from(error: PoolError<tokio_postgres::Error>) -> Self {
        unavailable(error).into()
    }
}

/// The server's error for a failed statement. Its DETAIL is left out, because errors are logged and DETAIL quotes rows
/// with email addresses and hashes.
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

    /// Returns an error that the server reported.
    pub(crate) fn of_store(error: &StoreError) -> Option<&Self> {
        let (StoreError::Unavailable(source) | StoreError::Driver(source)) = error else { return None };
        source.downcast_ref::<Self>()
    }

    /// Returns the SQLSTATE of an error that the server reported.
    pub(crate) fn code_of(error: &StoreError) -> Option<&SqlState> {
        Self::of_store(error).map(|fault| &fault.code)
    }
}

/// Returns the server's message. A message of class 22 (data exception) is replaced by another text, because it quotes
/// the refused value.
fn message_of(said: &DbError) -> String {
    let is_about_data = said.code().code().starts_with("22");
    if is_about_data { "a value was refused".to_owned() } else { said.message().to_owned() }
}

/// Returns what the operator can do about an error, as the end of its message.
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

/// Failures of the engine itself, not of PostgreSQL.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EngineFault {
    #[error("the server did not answer in time")]
    Timeout,
    #[error("a statement of the engine yielded no row")]
    NoRow,
    #[error("a row changed between lock and read at every attempt")]
    Contention,
}

/// Wraps an error that a retry may overcome.
pub(crate) fn unavailable(error: impl std::error::Error + Send + Sync + 'static) -> StoreError {
    StoreError::Unavailable(Box::new(error))
}

/// Wraps an error that is a conflict with another transaction, after which the whole operation is retried.
pub(crate) fn conflict(error: impl std::error::Error + Send + Sync + 'static) -> Fault {
    Fault { error: unavailable(error), remedy: Remedy::Retry }
}

/// Wraps an error that a retry would meet again.
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
        if is_transient(said.code()) { Self::Unavailable } else { Self::Driver }
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

/// True for errors whose cause is outside the statement: concurrent transactions, load, limits, privileges, damaged
/// data, or a server that shuts down or is read-only.
fn is_transient(code: &SqlState) -> bool {
    // Classes: 08 connection, 40 rollback, 53 resources, 57 operator intervention (stop, cancel, timeout), 58 system
    // error. Data corruption is class XX.
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

/// Returns the engine's reaction to an error of the server. A unique or foreign key violation means that a
/// row was inserted or deleted concurrently, because every operation reads first and locks the rows that it
/// finds.
fn remedy(code: &SqlState) -> Remedy {
    let conflict = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::UNIQUE_VIOLATION,
        SqlState::FOREIGN_KEY_VIOLATION,
    ];
    // A read-only server was the primary before a failover. An unknown or stale statement was prepared on another
    // connection or for another schema.
    let reconnect = [
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        SqlState::FEATURE_NOT_SUPPORTED,
    ];
    // Class 08 is sent by a pooler before it closes a connection.
    let is_of_connection = code.code().starts_with("08");
    if conflict.contains(code) {
        Remedy::Retry
    } else if is_of_connection || reconnect.contains(code) || NAMES.contains(code) {
        Remedy::Reconnect
    } else {
        Remedy::None
    }
}
