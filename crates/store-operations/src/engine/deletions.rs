//! Deletion of accounts at their owners' request, with a grace period: implementation of [`Deletions`].

use async_trait::async_trait;
use latchkey_domain::time::Timestamp;
use latchkey_store::{DeleteAccount, Deletions, DueDeletion, FinishedDeletion, GuardedResult, StoreResult};

use super::Engine;
use crate::form::{Cells, Executor, Results, Script};
use crate::operations::delete_account;
use crate::tables::users;

#[crate::measured]
#[async_trait]
impl<E: Executor> Deletions for Engine<E> {
    async fn delete_account(&self, delete: DeleteAccount) -> GuardedResult<bool> {
        delete_account::begin(&self.0, delete).await
    }

    async fn list_due_deletions(&self, now: Timestamp) -> StoreResult<Vec<DueDeletion>> {
        let mut reads = Script::default();
        let due = users::list_due_deletions(&mut reads, now);
        let read = |cells: &mut Cells<'_>| {
            Ok(DueDeletion { user_id: cells.of("users").id("id")?, locale: users::read_locale(cells)? })
        };
        self.read(reads, move |results: &Results<'_>| results.list(due, read)).await
    }

    async fn finish_deletions(&self, due: Vec<FinishedDeletion>, now: Timestamp) -> StoreResult<u64> {
        delete_account::finish(&self.0, due, now).await
    }
}
