//! Contract for rate limits shared by all instances: for requests that make no other store call, and for the limits of an
//! account.

use async_trait::async_trait;
use latchkey_domain::account_limits::{AccountCounters, AccountLimits};
use latchkey_domain::limits::Take;
use latchkey_domain::time::Timestamp;

use crate::admin_users::AccountAct;
use crate::error::{GuardedResult, LimitedResult, StoreResult};

/// Rate limits shared by all instances.
#[async_trait]
pub trait Limits {
    /// Takes one token from each bucket, or none if any is empty. No operation may name a bucket twice in `takes`.
    async fn take(&self, takes: &[Take], now: Timestamp) -> LimitedResult<()>;

    /// Reads the states of an account's limits.
    async fn find_account_limits(&self, limits: &AccountLimits) -> StoreResult<AccountCounters>;

    /// Lifts the limits of an account: clears all its counters, and fills its buckets.
    async fn lift_limits(&self, limits: &AccountLimits, act: AccountAct) -> GuardedResult<()>;
}
