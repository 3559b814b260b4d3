//! Operations on undo links, mailed links by which an owner reverses a change of the account: implementation
//! of [`UndoLinks`].

use async_trait::async_trait;
use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Take;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{LimitedResult, StoreResult, UndoLink, UndoLinks, UndoOutcome, UseUndoLink};

use super::Engine;
use crate::form::{Executor, Results, Script};
use crate::operations::undo;
use crate::tables::undo_tokens;

#[crate::measured]
#[async_trait]
impl<E: Executor> UndoLinks for Engine<E> {
    async fn find_undo(
        &self,
        token: TokenHash,
        takes: &[Take],
        now: Timestamp,
    ) -> LimitedResult<Option<UndoLink>> {
        undo::find(&self.0, token, takes, now).await
    }

    async fn list_reserved_emails(
        &self,
        user_id: UserId,
        now: Timestamp,
    ) -> StoreResult<Vec<(Email, Timestamp)>> {
        let mut script = Script::default();
        let reserved = undo_tokens::list_reserved(&mut script, user_id, now);
        let finish = move |results: &Results<'_>| {
            results.list(reserved, |cells| {
                let cells = cells.of("undo_tokens");
                Ok((cells.email("email")?, cells.time("expires_at")?))
            })
        };
        self.read(script, finish).await
    }

    async fn undo(&self, link: UseUndoLink) -> LimitedResult<UndoOutcome> {
        undo::undo(&self.0, link).await
    }
}
