//! Operations on instances of the service: implementation of [`Instances`].

use async_trait::async_trait;
use latchkey_domain::instance::{Instance, InstanceId};
use latchkey_domain::time::Timestamp;
use latchkey_store::{Instances, StoreResult};

use super::Engine;
use crate::form::{Executor, Repeat, Script};
use crate::tables::instances;

#[crate::measured]
#[async_trait]
impl<E: Executor> Instances for Engine<E> {
    async fn save_instance(&self, instance: Instance, forgotten: Timestamp) -> StoreResult<()> {
        let mut script = Script::default();
        instances::save(&mut script, &instance);
        instances::forget(&mut script, forgotten);
        self.write(script, Repeat::Harmless, |_| Ok(())).await
    }

    async fn delete_instance(&self, id: InstanceId) -> StoreResult<()> {
        let mut script = Script::default();
        instances::delete(&mut script, id);
        self.write(script, Repeat::Harmless, |_| Ok(())).await
    }

    async fn list_instances(&self, since: Timestamp) -> StoreResult<Vec<Instance>> {
        let mut script = Script::default();
        let all = instances::list(&mut script, since);
        self.read(script, move |results| results.list(all, instances::read)).await
    }
}
