//! Refusals that belong to no single module of use cases, such as a full queue.

use std::time::Duration;

use super::Refusal;
use crate::refusals;

refusals! {
    FORBIDDEN 403 "These credentials do not allow this operation.",
        when "the caller may not do this, or the identity provider gives no email address",
        next "Use credentials, or an origin, that this operation is open to.";
    NOT_FOUND 404 "There is nothing at this path.",
        when "nothing is here: the path or the record does not exist",
        next "Check the path and the ids in it.";
    TOO_MANY_REQUESTS 429 "Too many requests.", retry 5,
        when "a limit is used up; the message names it, `Retry-After` says for how long",
        next "Wait for the seconds that `Retry-After` says.";
    SERVICE_BUSY 503 "The service could not answer in time.", retry 5,
        when "the service has more work than it can do in time, or an identity provider gives no \
            usable answer; the message says which",
        next "Wait for the seconds that `Retry-After` says and try again.";
    STORAGE_UNAVAILABLE 503 "The service cannot reach its storage at the moment.", retry 2,
        when "the database does not answer",
        next "Wait for the seconds that `Retry-After` says and try again.";
}

/// A queue is full, or an operation failed repeatedly because of concurrent changes.
pub const BUSY: Refusal =
    Refusal { message: "The service is busy.", retry_after: Some(Duration::from_secs(1)), ..SERVICE_BUSY };
