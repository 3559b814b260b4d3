//! Limits that instances share, for operations that have no store call of their own to put them in.

use async_trait::async_trait;
use latchkey_domain::limits::{Limited, Take};
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// Shared limits.
#[async_trait]
pub trait Limits {
    /// Takes a token from each bucket, or from none where one of them is empty. Here and wherever an
    /// operation takes tokens, no bucket is named twice.
    async fn take(&self, takes: &[Take], now: Timestamp) -> StoreResult<Result<(), Limited>>;
}
