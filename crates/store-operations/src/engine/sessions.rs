//! Operations on sessions, password sign-in and password change: implementation of [`Sessions`].

use async_trait::async_trait;
use latchkey_domain::audit::AuditEvent;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::Take;
use latchkey_domain::session::{Session, SessionName};
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    BeginPasswordChange, ChangePassword, EndedSession, FailedSignIn, LimitedResult, LiveSession, OwnProfile,
    PasswordChange, PasswordSet, PresentedRefreshToken, RefreshOutcome, RefreshSession, Sessions,
    SetPassword, SignIn, SignInGuard, SignInOutcome, SignInSubject, StoreResult,
};

use super::Engine;
use crate::form::{Executor, Repeat, Results, Script, Slot};
use crate::operations::{change_password, refresh, sign_in};
use crate::tables::{sessions, users};

const LISTED: u32 = 1_000;

#[crate::measured]
#[async_trait]
impl<E: Executor> Sessions for Engine<E> {
    async fn begin_sign_in(
        &self,
        email: &EmailKey,
        takes: &[Take],
        guard: Option<&SignInGuard>,
        now: Timestamp,
    ) -> LimitedResult<SignInSubject> {
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
        let mut script = Script::default();
        let found = sessions::find_live(&mut script, id, now);
        self.read(script, move |results| results.find(found, sessions::read_live)).await
    }

    async fn find_session_owner(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<UserId>> {
        let mut script = Script::default();
        let found = sessions::find_owner(&mut script, id, now);
        self.read(script, move |results| sessions::owner(results, found)).await
    }

    async fn find_session_profile(&self, id: SessionId, now: Timestamp) -> StoreResult<Option<OwnProfile>> {
        let mut script = Script::default();
        let found = sessions::find_own_profile(&mut script, id, now);
        self.read(script, move |results| results.find(found, sessions::read_own_profile)).await
    }

    async fn is_refresh_token_good(
        &self,
        presented: PresentedRefreshToken,
        now: Timestamp,
    ) -> StoreResult<bool> {
        refresh::is_good(&self.0, presented, now).await
    }

    async fn refresh_session(&self, refresh: RefreshSession) -> StoreResult<RefreshOutcome> {
        refresh::refresh(&self.0, refresh).await
    }

    async fn list_sessions(&self, user_id: UserId, now: Timestamp) -> StoreResult<Vec<Session>> {
        let mut script = Script::default();
        let found = sessions::list_live(&mut script, user_id, now, LISTED);
        self.read_long(script, move |results| results.list(found, sessions::read_session)).await
    }

    async fn rename_session(
        &self,
        user_id: UserId,
        id: SessionId,
        name: Option<SessionName>,
        now: Timestamp,
    ) -> StoreResult<Option<Session>> {
        let mut script = Script::default();
        let renamed = sessions::rename(&mut script, user_id, id, name.as_ref(), now);
        let found = sessions::find_of_user(&mut script, id, user_id);
        let finish = move |results: &Results<'_>| match results.affected(renamed)? {
            0 => Ok(None),
            _ => results.find(found, sessions::read_session),
        };
        self.write(script, Repeat::Harmless, finish).await
    }

    async fn end_sessions(&self, which: EndedSession, event: AuditEvent, now: Timestamp) -> StoreResult<u64> {
        let (script, ended) = match which {
            EndedSession::Own(user_id, id) => end_own(user_id, id, event, now)?,
            EndedSession::OthersOf(user_id, kept) => end_others(user_id, kept, event, now)?,
            EndedSession::WithOpenedFrom(user_id, page) => end_with_opened_from(user_id, page, event, now)?,
            EndedSession::OfRefreshToken(presented) => {
                return refresh::end_by_token(&self.0, presented, event, now).await;
            }
        };
        self.write(script, Repeat::Never, move |results| results.affected(ended)).await
    }

    async fn change_password(&self, change: ChangePassword) -> LimitedResult<PasswordChange> {
        change_password::change(&self.0, change).await
    }

    async fn set_password(&self, set: SetPassword) -> StoreResult<PasswordSet> {
        change_password::set(&self.0, set).await
    }
}

fn end_own(user_id: UserId, id: SessionId, event: AuditEvent, now: Timestamp) -> StoreResult<(Script, Slot)> {
    let mut script = Script::default();
    sessions::lock(&mut script, id);
    let ended = sessions::end_own_and_record(&mut script, user_id, id, event, now)?;
    Ok((script, ended))
}

fn end_others(
    user_id: UserId,
    kept: SessionId,
    event: AuditEvent,
    now: Timestamp,
) -> StoreResult<(Script, Slot)> {
    let mut script = Script::default();
    // This lock serialises transactions that end several sessions of the user. Without it they could deadlock on the
    // sessions.
    users::lock_by_id(&mut script, user_id);
    sessions::lock_others(&mut script, user_id, kept, now);
    let ended = sessions::end_others_and_record(&mut script, user_id, kept, event, now)?;
    Ok((script, ended))
}

fn end_with_opened_from(
    user_id: UserId,
    page: SessionId,
    event: AuditEvent,
    now: Timestamp,
) -> StoreResult<(Script, Slot)> {
    let mut script = Script::default();
    users::lock_by_id(&mut script, user_id);
    sessions::lock_with_opened_from(&mut script, user_id, page, now);
    let ended = sessions::end_with_opened_from_and_record(&mut script, user_id, page, event, now)?;
    Ok((script, ended))
}
