//! Rotation of refresh tokens. The crate `latchkey_domain` decides whether a presented token is valid.

use latchkey_domain::audit::AuditEvent;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::refresh::RefreshVerdict;
use latchkey_domain::seen_device::SeenDevice;
use latchkey_domain::session::{Level, Session};
use latchkey_domain::time::Timestamp;
use latchkey_store::{LiveSession, PresentedRefreshToken, RefreshOutcome, RefreshSession, StoreResult};

use crate::form::{Decided, Executor, Script};
use crate::tables::sessions::{self, RefreshableSession};
use crate::tables::{outbox, seen_devices};

/// Returns whether a refresh with this token would succeed, with a new successor or the stored one. Changes
/// nothing.
pub(crate) async fn is_good<E: Executor>(
    engine: &E,
    presented: PresentedRefreshToken,
    now: Timestamp,
) -> StoreResult<bool> {
    let mut script = Script::default();
    let found = sessions::find_by_family(&mut script, &presented.family);
    engine
        .read(script, move |results| {
            let found = results.find(found, sessions::read_refreshable)?;
            Ok(found.is_some_and(|found| allows_refresh(&found, &presented, now)))
        })
        .await
}

/// Ends the session of a refresh token, if [`is_good`] accepts the token. Returns the number of ended sessions, 0 or
/// 1.
pub(crate) async fn end_by_token<E: Executor>(
    engine: &E,
    presented: PresentedRefreshToken,
    event: AuditEvent,
    now: Timestamp,
) -> StoreResult<u64> {
    let mut reads = Script::default();
    let found = sessions::lock_by_family(&mut reads, &presented.family);
    engine
        .transact(reads, move |results| {
            let found = results.find(found, sessions::read_refreshable)?;
            let Some(found) = found.filter(|found| allows_refresh(found, &presented, now)) else {
                return Ok(Decided::Return(0));
            };
            let mut writes = Script::default();
            let (user_id, id) = (found.user.id, found.session.id);
            let ended = sessions::end_own_and_record(&mut writes, user_id, id, event.clone(), now)?;
            Ok(Decided::write(writes, move |results| results.affected(ended)))
        })
        .await
}

/// Refreshes a session: applies what the rules of `latchkey_domain` decide on the presented token.
pub(crate) async fn refresh<E: Executor>(engine: &E, refresh: RefreshSession) -> StoreResult<RefreshOutcome> {
    let mut reads = Script::default();
    let found = sessions::lock_by_family(&mut reads, &refresh.presented.family);
    engine
        .transact(reads, move |results| {
            let Some(found) = results.find(found, sessions::read_refreshable)? else {
                return Ok(Decided::Return(RefreshOutcome::Refused));
            };
            let verdict = judge(&found, &refresh.presented, refresh.now);
            if let Some(event) = refresh.level_two_required.as_ref().filter(|_| verdict.is_good())
                && found.session.level == Level::One
            {
                let mut writes = Script::default();
                let (user_id, id) = (found.user.id, found.session.id);
                sessions::end_own_and_record(&mut writes, user_id, id, event.clone(), refresh.now)?;
                return Ok(Decided::done(writes, RefreshOutcome::LevelTooLow));
            }
            match verdict {
                RefreshVerdict::Rotate | RefreshVerdict::Supersede => Ok(replace(found, &refresh)),
                RefreshVerdict::SameSuccessor => Ok(give_again(found, &refresh)),
                RefreshVerdict::Refuse => Ok(Decided::Return(RefreshOutcome::Refused)),
                RefreshVerdict::Revoke => {
                    let mut writes = Script::default();
                    let (user_id, id) = (found.user.id, found.session.id);
                    let event = refresh.reuse_event.clone();
                    sessions::end_own_and_record(&mut writes, user_id, id, event, refresh.now)?;
                    let (mail, kind) = (refresh.mail.as_ref(), MailKind::SessionEndedForSafety);
                    outbox::notify(&mut writes, &found.user, mail, kind, refresh.now);
                    Ok(Decided::done(writes, RefreshOutcome::Revoked))
                }
            }
        })
        .await
}

fn judge(found: &RefreshableSession, presented: &PresentedRefreshToken, now: Timestamp) -> RefreshVerdict {
    found.state.judge_for(&found.user, &presented.hash, now, presented.grace)
}

/// True if a refresh with this token returns a successor, according to the session's row that was read.
pub(crate) fn allows_refresh(
    found: &RefreshableSession,
    presented: &PresentedRefreshToken,
    now: Timestamp,
) -> bool {
    judge(found, presented, now).is_good()
}

/// Replaces the presented token, which is the current one or its predecessor.
fn replace(found: RefreshableSession, refresh: &RefreshSession) -> Decided<RefreshOutcome> {
    let mut writes = Script::default();
    let PresentedRefreshToken { hash, grace, .. } = &refresh.presented;
    let retired = found.state.retire(hash, refresh.now, *grace);
    sessions::rotate(&mut writes, &found.session, &retired, refresh);
    if let Some(device) = SeenDevice::to_store(&found.session, &refresh.client, refresh.now) {
        seen_devices::save(&mut writes, found.user.id, found.session.id, &device, refresh.now);
    }
    let session = Session {
        last_seen_at: refresh.now,
        idle_expires_at: refresh.idle_expires_at,
        client: refresh.client.clone(),
        ..found.session
    };
    let live = Box::new(LiveSession { session, user: found.user });
    Decided::done(writes, RefreshOutcome::Rotated(live))
}

/// Returns the stored successor of the presented token again. A successor that is deleted already can occur
/// only if the clock of the instance that deleted it is ahead; then the token is replaced once more.
fn give_again(mut found: RefreshableSession, refresh: &RefreshSession) -> Decided<RefreshOutcome> {
    let Some(sealed) = found.sealed_successor.take() else { return replace(found, refresh) };
    let live = Box::new(LiveSession { session: found.session, user: found.user });
    Decided::Return(RefreshOutcome::SameSuccessor { sealed, live })
}
