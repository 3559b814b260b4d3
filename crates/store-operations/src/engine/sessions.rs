//! Sessions.

use std::time::Duration;

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::Take;
use latchkey_domain::session::Session;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    BeginPasswordChange, ChangePassword, EndedSession, FailedSignIn, LimitedResult, LiveSession, OwnProfile,
    RefreshOutcome, RefreshSession, Sessions, SignIn, SignInCandidate, SignInGuard, SignInOutcome,
    StoreResult,
};

use super::Engine;
use crate::form::Executor;
use crate::operations::{change_password, refresh, sessions, sign_in};

#[async_trait]
impl<E: Executor> Sessions for Engine<E> {
    async fn begin_sign_in(
        &self,
        email: &EmailKey,
        takes: &[Take],
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> LimitedResult<Option<Box<SignInCandidate>>> {
        sign_in::begin(&self.0, email, takes, guard, now).await
    }

    async fn begin_password_change(
        &self,
        session: SessionId,
        email: &EmailKey,
        takes: &[Take],
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> LimitedResult<BeginPasswordChange> {
        change_password::begin(&self.0, session, email, takes, guard, now).await
    }

    async fn sign_in(&self, sign_in: SignIn) -> LimitedResult<SignInOutcome> {
        sign_in::open_after_password(&self.0, sign_in).await
    }

    async fn fail_sign_in(&self, failed: FailedSignIn) -> LimitedResult<()> {
        sign_in::fail(&self.0, failed).await
    }

    async fn find_live_session(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<LiveSession>> {
        sessions::find_live(&self.0, id, now).await
    }

    async fn find_session_owner(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<UserId>> {
        sessions::find_owner(&self.0, id, now).await
    }

    async fn find_session_profile(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<OwnProfile>> {
        sessions::find_own_profile(&self.0, id, now).await
    }

    async fn is_refresh_token_good(
        &self,
        family: TokenHash,
        presented: TokenHash,
        grace: Duration,
        now: Timestamp,
    ) -> StoreResult<bool> {
        refresh::is_good(&self.0, family, presented, grace, now).await
    }

    async fn refresh_session(&self, refresh: RefreshSession) -> StoreResult<RefreshOutcome> {
        refresh::refresh(&self.0, refresh).await
    }

    async fn list_sessions(&self, user_id: UserId, now: Timestamp) -> StoreResult<Vec<Session>> {
        sessions::list(&self.0, user_id, now).await
    }

    async fn end_sessions(&self, which: EndedSession, event: AuditEvent, now: Timestamp) -> StoreResult<u64> {
        sessions::end(&self.0, which, event, now).await
    }

    async fn change_password(&self, change: ChangePassword) -> LimitedResult<SignInOutcome> {
        change_password::change(&self.0, change).await
    }
}
