//! Rate limits of an operation. Tokens are taken from their buckets before anything else.

use latchkey_domain::limits::{Limited, Take};
use latchkey_domain::time::Timestamp;
use latchkey_store::StoreResult;

use crate::form::{Results, Script, Slot};

/// Adds the statement that takes a token from each bucket, or none if a bucket is empty. It must be the first
/// statement of a script, because buckets are locked before users. If `takes` is empty, adds no statement and
/// returns `None`.
pub(crate) fn take(script: &mut Script, takes: &[Take], now: Timestamp) -> Option<Slot> {
    (!takes.is_empty()).then(|| script.take(takes, now))
}

/// Returns the rate limit whose bucket was empty in [`take`]; `None` if no bucket was empty.
pub(crate) fn limited(results: &Results<'_>, taken: Option<Slot>) -> StoreResult<Option<Limited>> {
    taken.map_or(Ok(None), |slot| results.limited(slot))
}
