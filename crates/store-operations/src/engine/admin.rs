//! Operations on users that only an admin may do.

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{AdminUsers, ListUsers, StoreResult, UpdateUser, UpdateUserOutcome, UserPage};

use super::Engine;
use crate::form::Executor;
use crate::operations::admin_users;

#[async_trait]
impl<E: Executor> AdminUsers for Engine<E> {
    async fn list_users(&self, list: &ListUsers) -> StoreResult<UserPage> {
        admin_users::list_users(&self.0, list).await
    }

    async fn update_user(&self, update: UpdateUser) -> StoreResult<UpdateUserOutcome> {
        admin_users::update_user(&self.0, update).await
    }

    async fn delete_users(&self, ids: &[UserId], events: Vec<AuditEvent>) -> StoreResult<u64> {
        admin_users::delete_users(&self.0, ids, events).await
    }

    async fn end_all_sessions(
        &self,
        id: UserId,
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<Option<u64>> {
        admin_users::end_all_sessions(&self.0, id, event, now).await
    }

    async fn delete_profile(&self, id: UserId, event: AuditEvent) -> StoreResult<bool> {
        admin_users::delete_profile(&self.0, id, event).await
    }
}
