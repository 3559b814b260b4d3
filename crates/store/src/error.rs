//! Faults of a storage engine, and the results of operations. Business outcomes, such as a taken address, are variants of
//! each operation's outcome.

use latchkey_domain::limits::Limited;
use latchkey_domain::operator::OperatorRefusal;

/// Result of a store operation. The error is a fault of the storage, never a business outcome.
pub type StoreResult<T> = Result<T, StoreError>;

/// Result of a rate-limited operation: its outcome, or the limit that refused the request. A refused request changes
/// nothing: no token is taken, no attempt counted, no password compared.
pub type LimitedResult<T> = StoreResult<Result<T, Limited>>;

/// Result of an operation on an account that may be an operator's: its outcome, or the reason why the account is not
/// changed.
pub type GuardedResult<T> = StoreResult<Result<T, OperatorRefusal>>;

/// A fault of the storage engine or of the stored data.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Violation of a unique constraint for which the outcome of the operation has no variant.
    #[error("a unique key is taken: {0:?}")]
    Conflict(UniqueKey),
    /// Transient fault: the storage is unreachable, read-only or overloaded. A retry may succeed.
    #[error("the storage is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A stored value violates the rules of its type.
    #[error("corrupt value in {table}.{column}")]
    Corrupt {
        /// Name of the table with the invalid value.
        table: &'static str,
        /// Name of the column with the invalid value.
        column: &'static str,
    },
    /// Any other error of the database driver. A retry is not expected to succeed.
    #[error("the storage driver failed")]
    Driver(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Unique constraints that a request can violate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UniqueKey {
    /// An email address belongs to one account.
    UserEmail,
    /// A username belongs to one profile.
    Username,
}
