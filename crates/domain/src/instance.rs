//! Instances: the running processes of a service that share its database.

use std::time::Duration;

use crate::id::id;
use crate::time::Timestamp;

/// Time for which an instance that was seen counts as running. Each reports itself once a minute.
pub const SEEN_LATELY: Duration = Duration::from_mins(3);

/// Time after which an instance that stopped without a word is forgotten.
pub const FORGOTTEN_AFTER: Duration = Duration::from_hours(24);

id! {
    /// Id of an instance, made at its start.
    InstanceId
}

/// A running process of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// Id of the instance.
    pub id: InstanceId,
    /// Version of the service, such as `1.2.0`.
    pub version: String,
    /// Time of its start.
    pub started_at: Timestamp,
    /// Time at which it last reported itself.
    pub seen_at: Timestamp,
}
