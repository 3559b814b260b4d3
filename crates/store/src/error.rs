//! What can go wrong in a store that is not part of the business.

/// The result of a store operation.
pub type StoreResult<T> = Result<T, StoreError>;

/// A fault of the storage, or of what it holds.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A unique key is taken, where the operation has no outcome of its own for it.
    #[error("a unique key is taken: {0:?}")]
    Conflict(UniqueKey),
    /// The storage cannot be reached, is read-only, or is too busy: worth another try later.
    #[error("the storage is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A row holds what no row may hold.
    #[error("corrupt value in {table}.{column}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
    },
    /// Anything else that the driver says.
    #[error("the storage driver failed")]
    Driver(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The unique keys that a caller may run into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UniqueKey {
    /// One account per address.
    UserEmail,
    /// One profile per username.
    Username,
}
