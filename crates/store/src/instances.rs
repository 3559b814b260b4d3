//! Contract for the instances of the service, which report themselves.

use async_trait::async_trait;
use latchkey_domain::instance::{Instance, InstanceId};
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// Maximum number of listed instances.
pub const LISTED_INSTANCES: u32 = 1_000;

/// Instances of the service.
#[async_trait]
pub trait Instances {
    /// Stores an instance, or the time at which it was seen. Deletes those last seen at `forgotten` or before.
    async fn save_instance(&self, instance: Instance, forgotten: Timestamp) -> StoreResult<()>;

    /// Deletes an instance, which stops.
    async fn delete_instance(&self, id: InstanceId) -> StoreResult<()>;

    /// Lists the instances that were seen after `since`, the earliest start first; at most [`LISTED_INSTANCES`].
    async fn list_instances(&self, since: Timestamp) -> StoreResult<Vec<Instance>>;
}
