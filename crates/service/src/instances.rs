//! Instances of the service on its database. Each reports itself once a minute; requests write nothing.

use std::sync::Arc;

use latchkey_domain::instance::{FORGOTTEN_AFTER, Instance, InstanceId, SEEN_LATELY};
use latchkey_domain::time::Timestamp;

use crate::error::Result;
use crate::kernel::Kernel;

pub struct Instances {
    kernel: Arc<Kernel>,
    id: InstanceId,
    started_at: Timestamp,
}

impl Instances {
    pub(crate) fn new(kernel: Arc<Kernel>) -> Self {
        let now = kernel.now();
        Self { id: InstanceId::new(now, kernel.id_bytes(now)), started_at: now, kernel }
    }

    /// Returns the id of this instance.
    #[must_use]
    pub const fn id(&self) -> InstanceId {
        self.id
    }

    /// Reports that this instance runs.
    pub async fn report(&self) -> Result<()> {
        let now = self.kernel.now();
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let instance = Instance { id: self.id, version, started_at: self.started_at, seen_at: now };
        Ok(self.kernel.store.save_instance(instance, now.minus(FORGOTTEN_AFTER)).await?)
    }

    /// Reports that this instance stops.
    pub async fn leave(&self) -> Result<()> {
        Ok(self.kernel.store.delete_instance(self.id).await?)
    }

    /// Lists the instances that were seen lately, the earliest start first.
    pub async fn list(&self) -> Result<Vec<Instance>> {
        let since = self.kernel.now().minus(SEEN_LATELY);
        Ok(self.kernel.store.list_instances(since).await?)
    }
}
