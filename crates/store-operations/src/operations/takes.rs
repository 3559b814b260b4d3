//! Rate limit tokens, taken before anything else in an operation.

use latchkey_domain::limits::{Limited, Take};
use latchkey_domain::time::Timestamp;
use latchkey_store::StoreResult;

use crate::form::{Results, Script, Slot};

/// Takes a token from each bucket, or from none if one is empty; nothing without buckets. Comes first in its
/// script: buckets are locked before users.
pub(crate) fn take(script: &mut Script, takes: &[Take], now: Timestamp) -> Option<Slot> {
    (!takes.is_empty()).then(|| script.take(takes, now))
}

/// Rate limit that refused [`take`], if a bucket was empty.
pub(crate) fn limited(results: &Results<'_>, taken: Option<Slot>) -> StoreResult<Option<Limited>> {
    taken.map_or(Ok(None), |slot| results.limited(slot))
}
