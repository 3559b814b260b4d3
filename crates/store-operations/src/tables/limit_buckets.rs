//! Table `limit_buckets`: token buckets of the rate limits. Each engine has its own statements to take from them.

use latchkey_domain::limits::LimitKey;
use latchkey_domain::time::Timestamp;
use latchkey_store::StoreResult;

use crate::bulk::{Table, columns};
use crate::form::{Results, Slot, statements};

pub const TABLE: Table = Table::new("limit_buckets", 1, columns! { bytes key, int full_at });

statements! {
    FIND: read find(key: &LimitKey) = "SELECT full_at FROM limit_buckets WHERE key = $1";
    LOCK: read lock(key: &LimitKey) = "SELECT full_at FROM limit_buckets WHERE key = $1 FOR UPDATE";
    DELETE: change delete(key: &LimitKey) = "DELETE FROM limit_buckets WHERE key = $1";
}

/// Decodes the time at which a bucket will be full; `None` if it is full.
pub(crate) fn full_at(results: &Results<'_>, slot: Slot) -> StoreResult<Option<Timestamp>> {
    results.find(slot, |cells| cells.of("limit_buckets").time("full_at"))
}
