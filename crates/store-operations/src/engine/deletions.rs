//! Deletion of accounts at their owners' request, with a grace period: implementation of [`Deletions`].

use async_trait::async_trait;
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{DeleteAccount, Deletions, FinishedDeletion, StoreResult};

use super::Engine;
use crate::form::{Executor, Results, Script};
use crate::operations::delete_account;
use crate::tables::users;

#[async_trait]
impl<E: Executor> Deletions for Engine<E> {
    async fn delete_account(&self, delete: DeleteAccount) -> StoreResult<bool> {
        delete_account::begin(&self.0, delete).await
    }

    async fn list_due_deletions(&self, now: Timestamp) -> StoreResult<Vec<UserId>> {
        let mut reads = Script::default();
        let due = users::list_due_deletions(&mut reads, now);
        let finish = move |results: &Results<'_>| results.list(due, |cells| cells.of("users").id("id"));
        self.read(reads, finish).await
    }

    async fn finish_deletions(&self, due: Vec<FinishedDeletion>, now: Timestamp) -> StoreResult<u64> {
        delete_account::finish(&self.0, due, now).await
    }
}
