//! Operations on undo links: implementation of [`UndoLinks`].

use async_trait::async_trait;
use latchkey_domain::limits::Take;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{LimitedResult, UndoLink, UndoLinks, UndoOutcome, UseUndoLink};

use super::Engine;
use crate::form::Executor;
use crate::operations::undo;

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

    async fn undo(&self, link: UseUndoLink) -> LimitedResult<UndoOutcome> {
        undo::undo(&self.0, link).await
    }
}
