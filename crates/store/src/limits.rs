//! Rate limits shared by all instances, for requests that have no store operation of their own.

use async_trait::async_trait;
use latchkey_domain::limits::{Limited, Take};
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// Result of an operation with rate limits: its outcome, or the limit that is used up. A used-up limit changes nothing:
/// no token is taken, no attempt counted, no password compared.
pub type LimitedResult<T> = StoreResult<Result<T, Limited>>;

/// Shared rate limits.
#[async_trait]
pub trait Limits {
    /// Takes a token from each bucket, or from none where one of them is empty. Here and wherever an
    /// operation takes tokens, no bucket is named twice.
    async fn take(&self, takes: &[Take], now: Timestamp) -> LimitedResult<()>;
}
