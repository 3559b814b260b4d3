//! Operations by which owners of accounts change their email address: implementation of [`EmailChanges`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email_change::Side;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    BeginEmailChange, BegunEmailChange, ConfirmEmailChange, ConfirmedEmailChange, EmailChanges,
    LimitedResult, StoreResult,
};

use super::Engine;
use crate::form::{Decided, Executor, Script};
use crate::operations::{begin_email_change, confirm_email_change};
use crate::tables::{audit_events, codes, email_changes, users};

#[crate::measured]
#[async_trait]
impl<E: Executor> EmailChanges for Engine<E> {
    async fn begin_email_change(&self, begin: BeginEmailChange) -> LimitedResult<BegunEmailChange> {
        begin_email_change::begin(&self.0, begin).await
    }

    async fn confirm_email_change(&self, confirm: ConfirmEmailChange) -> LimitedResult<ConfirmedEmailChange> {
        confirm_email_change::confirm(&self.0, confirm).await
    }

    async fn cancel_email_change(
        &self,
        user_id: UserId,
        session_id: SessionId,
        event: AuditEvent,
        now: Timestamp,
    ) -> StoreResult<bool> {
        let mut reads = Script::default();
        users::lock_by_id(&mut reads, user_id);
        let change = email_changes::find(&mut reads, user_id);
        self.transact(reads, move |results| {
            if email_changes::live(results, change, now)?.is_none() {
                return Ok(Decided::Return(false));
            }
            let mut writes = Script::default();
            email_changes::delete_of(&mut writes, user_id);
            for side in Side::ALL {
                codes::delete_codes_of(&mut writes, user_id, side.purpose());
            }
            audit_events::record_in(&mut writes, event.clone(), user_id, session_id)?;
            Ok(Decided::done(writes, true))
        })
        .await
    }
}
