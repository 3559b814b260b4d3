//! Tokens of rate limits, taken before an operation looks at anything else.

use latchkey_domain::limits::{Limited, Take};
use latchkey_domain::time::Timestamp;
use latchkey_store::StoreResult;

use crate::form::{Results, Script, Slot};

/// Takes a token from each bucket, if there are any, or from none where one is empty. First of all in its script: buckets
/// are locked before users.
pub(crate) fn take(script: &mut Script, takes: &[Take], now: Timestamp) -> Option<Slot> {
    (!takes.is_empty()).then(|| script.take(takes, now))
}

/// The refusal of [`take`], if a bucket was empty.
pub(crate) fn limited(results: &Results<'_>, taken: Option<Slot>) -> StoreResult<Option<Limited>> {
    taken.map_or(Ok(None), |slot| results.limited(slot))
}
