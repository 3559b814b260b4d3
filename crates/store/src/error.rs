//! Storage errors that are not business outcomes.

/// Result of a store operation.
pub type StoreResult<T> = Result<T, StoreError>;

/// A failure of the storage or of its contents.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Unique constraint violation without an outcome of its own.
    #[error("a unique key is taken: {0:?}")]
    Conflict(UniqueKey),
    /// Transient failure: the storage is unreachable, read-only or overloaded; worth a retry.
    #[error("the storage is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A stored value violates its type's rules.
    #[error("corrupt value in {table}.{column}")]
    Corrupt {
        /// Table of the value.
        table: &'static str,
        /// Column of the value.
        column: &'static str,
    },
    /// Any other error of the driver.
    #[error("the storage driver failed")]
    Driver(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Unique constraints that a caller may violate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UniqueKey {
    /// One account per address.
    UserEmail,
    /// One profile per username.
    Username,
}
