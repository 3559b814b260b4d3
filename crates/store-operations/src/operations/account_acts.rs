//! Acts of admins on accounts of others: sessions are ended, the password is replaced, the profile is deleted or its text
//! removed.
//! Each spares the accounts of operators as its [`AccountAct`] says.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::ids::SessionId;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::operator::{Effect, OperatorRefusal};
use latchkey_store::{AccountAct, ClearedProfile, GuardedResult, ReplacePassword, StoreResult};

use super::operator_guard::OperatorReads;
use super::request_code;
use crate::form::{Decided, Executor, ProfileWrite, Results, Script, Slot};
use crate::tables::{audit_events, outbox, profiles, sessions, sign_up_attempts, users};

/// Handles of the statements that lock the user and read the operators.
#[derive(Clone, Copy)]
struct ActReads {
    user: Slot,
    guard: OperatorReads,
}

impl ActReads {
    /// Adds the statements that lock the user and read the operators.
    fn lock(script: &mut Script, act: &AccountAct) -> Self {
        let user = users::lock_by_id(script, act.user_id);
        Self { user, guard: OperatorReads::find(script, Effect::Change) }
    }

    /// Decides whether the act is done. `absent` is the outcome for an unknown user.
    fn decide<T>(
        self,
        results: &Results<'_>,
        act: &AccountAct,
        absent: T,
        writes: impl FnOnce(AuditEvent) -> StoreResult<Decided<GuardedOutcome<T>>>,
    ) -> StoreResult<Decided<GuardedOutcome<T>>> {
        if !results.any(self.user)? {
            return Ok(Decided::Return(Ok(absent)));
        }
        match self.guard.judge(results, act.protection, &[act.user_id])? {
            Ok(()) => writes(act.event.clone()),
            Err(refusal) => Ok(Decided::Return(Err(refusal))),
        }
    }
}

/// Outcome of an act, or the reason why the account is not changed.
type GuardedOutcome<T> = Result<T, OperatorRefusal>;

pub(crate) async fn end_all_sessions<E: Executor>(engine: &E, act: AccountAct) -> GuardedResult<Option<u64>> {
    let mut script = Script::default();
    let reads = ActReads::lock(&mut script, &act);
    engine
        .transact(script, move |results| {
            reads.decide(results, &act, None, |event| {
                let mut writes = Script::default();
                let ended = sessions::end_all_of(&mut writes, act.user_id, act.now);
                audit_events::record_of(&mut writes, event, act.user_id)?;
                Ok(Decided::write(writes, move |results| Ok(Ok(Some(results.affected(ended)?)))))
            })
        })
        .await
}

pub(crate) async fn end_session<E: Executor>(
    engine: &E,
    act: AccountAct,
    id: SessionId,
) -> GuardedResult<bool> {
    let mut script = Script::default();
    let reads = ActReads::lock(&mut script, &act);
    sessions::lock(&mut script, id);
    engine
        .transact(script, move |results| {
            reads.decide(results, &act, false, |event| {
                let mut writes = Script::default();
                let (user_id, now) = (act.user_id, act.now);
                let ended = sessions::end_own_and_record(&mut writes, user_id, id, event, now)?;
                Ok(Decided::write(writes, move |results| Ok(Ok(results.affected(ended)? > 0))))
            })
        })
        .await
}

/// Sets a password. Codes and tokens are deleted and all sessions end, as after a reset.
pub(crate) async fn replace_password<E: Executor>(
    engine: &E,
    replace: ReplacePassword,
) -> GuardedResult<bool> {
    let ReplacePassword { act, password, mail } = replace;
    let mut script = Script::default();
    let reads = ActReads::lock(&mut script, &act);
    let found = users::find_by_id(&mut script, act.user_id);
    engine
        .transact(script, move |results| {
            let account = users::account(results, found)?;
            reads.decide(results, &act, false, |event| {
                let Some(user) = account.map(|account| account.user) else {
                    return Ok(Decided::Return(Ok(false)));
                };
                let (id, now) = (act.user_id, act.now);
                let mut writes = Script::default();
                users::save_password(&mut writes, id, &password, user.email_verified, now);
                sign_up_attempts::forget_incomparable(&mut writes, id, &password);
                users::touch(&mut writes, id, now);
                request_code::end_all_of(&mut writes, id, now);
                sessions::end_all_of(&mut writes, id, now);
                audit_events::record_of(&mut writes, event, id)?;
                outbox::notify(&mut writes, &user, mail.as_ref(), MailKind::PasswordReplaced, now);
                Ok(Decided::done(writes, Ok(true)))
            })
        })
        .await
}

pub(crate) async fn delete_profile<E: Executor>(engine: &E, act: AccountAct) -> GuardedResult<bool> {
    let mut script = Script::default();
    let reads = ActReads::lock(&mut script, &act);
    engine
        .transact(script, move |results| {
            reads.decide(results, &act, false, |event| {
                let mut writes = Script::default();
                // Without its profile, nothing else tells an undo or an export that the account was changed.
                users::touch_with_profile(&mut writes, act.user_id, act.now);
                let deleted = profiles::delete_and_record(&mut writes, act.user_id, event)?;
                Ok(Decided::write(writes, move |results| Ok(Ok(results.affected(deleted)? > 0))))
            })
        })
        .await
}

pub(crate) async fn clear_profile<E: Executor>(engine: &E, act: AccountAct) -> GuardedResult<ClearedProfile> {
    let mut script = Script::default();
    let reads = ActReads::lock(&mut script, &act);
    let found = profiles::find_by_user(&mut script, act.user_id);
    engine
        .transact(script, move |results| {
            let profile = profiles::profile(results, found)?;
            reads.decide(results, &act, ClearedProfile::NotFound, |event| {
                let Some(profile) = profile else {
                    return Ok(Decided::Return(Ok(ClearedProfile::NotFound)));
                };
                let mut writes = Script::default();
                writes.write_profile(ProfileWrite::Clear(profile.without_public_text(act.now)));
                audit_events::record_of(&mut writes, event, act.user_id)?;
                Ok(Decided::done(writes, Ok(ClearedProfile::Cleared)))
            })
        })
        .await
}
