//! Deletion of accounts: its request by the owner, the restoral during the grace period, and the removal of all rows
//! at its end.

use latchkey_domain::ids::UserId;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::operator::{Effect, Protection};
use latchkey_domain::time::Timestamp;
use latchkey_domain::undo::UndoableEvent;
use latchkey_domain::user::User;
use latchkey_store::{DeleteAccount, FinishedDeletion, GuardedResult, Restoral, StoreResult, UndoLink};

use super::operator_guard::OperatorReads;
use super::request_code;
use crate::form::{Decided, Executor, Script, Slot};
use crate::tables::outbox::{self, Address};
use crate::tables::{audit_events, codes, link_tokens, profiles, seen_devices, sessions, undo_tokens, users};

/// Deletes a user and all rows of the user. Codes, links, mails and seen devices are deleted by statements of their own,
/// because they have no foreign key to the user. With one, a code, link or mail without a user would be written faster
/// than one with a user, which would reveal whether an address has an account; and a refresh, which stores the device,
/// would lock the user.
pub(crate) fn delete(writes: &mut Script, id: UserId) {
    codes::delete_all_codes_of(writes, id);
    link_tokens::delete_all_of(writes, id);
    outbox::delete_all_of(writes, id);
    users::delete(writes, id);
    // Last: a concurrent refresh may have stored a device before the deletion waited for its session.
    seen_devices::delete_all_of(writes, id);
}

/// Schedules the deletion of the account of a live session, or deletes it at once if there is no grace period.
pub(crate) async fn begin<E: Executor>(engine: &E, begin: DeleteAccount) -> GuardedResult<bool> {
    let mut reads = Script::default();
    users::lock_to_delete(&mut reads, begin.user_id);
    let live = sessions::find_live(&mut reads, begin.session_id, begin.now);
    let guard = OperatorReads::find(&mut reads, Effect::Loss);
    engine
        .transact(reads, move |results| {
            let account = results.find(live, users::read_account)?;
            let Some(account) = account.filter(|account| account.user.id == begin.user_id) else {
                return Ok(Decided::Return(Ok(false)));
            };
            if let Err(refusal) = guard.judge(results, Protection::LastOwner, &[begin.user_id])? {
                return Ok(Decided::Return(Err(refusal)));
            }
            let DeleteAccount { session_id, deletes_at, event, mail, undo, now, .. } = &begin;
            let (user, mut writes) = (&account.user, Script::default());
            audit_events::record_in(&mut writes, event.clone(), user.id, *session_id)?;
            if deletes_at <= now {
                let finished =
                    FinishedDeletion { user_id: user.id, event: event.clone(), mail: mail.clone() };
                delete_for_good(&mut writes, user, &finished, *now);
                return Ok(Decided::done(writes, Ok(true)));
            }
            request_code::end_all_of(&mut writes, user.id, *now);
            sessions::end_all_of(&mut writes, user.id, *now);
            set(&mut writes, user.id, Some(*deletes_at), *now);
            let kind = MailKind::DeletionScheduled;
            outbox::notify(&mut writes, user, mail.as_ref(), kind, *now);
            if let (Some(_), Some(undo)) = (mail, undo)
                && user.may_be_notified(kind)
            {
                let link = UndoLink { event: UndoableEvent::DeletionScheduled, happened_at: *now };
                undo_tokens::insert(&mut writes, user.id, undo, link, &user.email, user.has_two_step());
            }
            Ok(Decided::done(writes, Ok(true)))
        })
        .await
}

/// Deletes accounts whose grace period is over. Skips an account that was restored meanwhile.
pub(crate) async fn finish<E: Executor>(
    engine: &E,
    mut due: Vec<FinishedDeletion>,
    now: Timestamp,
) -> StoreResult<u64> {
    due.sort_by_key(|finished| finished.user_id); // the fixed order of locks prevents deadlocks
    let mut reads = Script::default();
    for finished in &due {
        users::lock_to_delete(&mut reads, finished.user_id);
    }
    let found: Vec<Slot> =
        due.iter().map(|finished| users::find_by_id(&mut reads, finished.user_id)).collect();
    engine
        .transact(reads, move |results| {
            let (mut writes, mut deleted) = (Script::default(), 0);
            for (finished, found) in due.iter().zip(&found) {
                let account = users::account(results, *found)?;
                let is_due = |user: &User| user.deletes_at.is_some_and(|at| at <= now);
                if let Some(user) = account.map(|account| account.user).filter(is_due) {
                    audit_events::record_of(&mut writes, finished.event.clone(), user.id)?;
                    delete_for_good(&mut writes, &user, finished, now);
                    deleted += 1;
                }
            }
            Ok(Decided::done(writes, deleted))
        })
        .await
}

/// Deletes all rows of an account whose deletion the owner requested, and writes a last mail. Audit events
/// keep the user id, but lose network address and user agent.
fn delete_for_good(writes: &mut Script, user: &User, finished: &FinishedDeletion, now: Timestamp) {
    let kind = MailKind::AccountDeleted;
    audit_events::forget_clients_of(writes, user.id);
    delete(writes, user.id);
    if let Some(mail) = finished.mail.as_ref().filter(|_| user.may_be_notified(kind)) {
        outbox::write(writes, mail, kind, Address::Unknown(&user.email), now);
    }
}

/// Restores an account whose deletion is scheduled.
pub(crate) fn restore(
    writes: &mut Script,
    user: &User,
    restoral: &Restoral,
    now: Timestamp,
) -> StoreResult<User> {
    let restored = User { deletes_at: None, ..user.clone() };
    request_code::end_all_of(writes, user.id, now);
    set(writes, user.id, None, now);
    audit_events::record_of(writes, restoral.event.clone(), user.id)?;
    outbox::notify(writes, &restored, restoral.mail.as_ref(), MailKind::DeletionCancelled, now);
    Ok(restored)
}

/// Schedules the deletion of an account, or cancels it if `deletes_at` is `None`.
pub(crate) fn set(writes: &mut Script, id: UserId, deletes_at: Option<Timestamp>, now: Timestamp) {
    users::set_deletion(writes, id, deletes_at);
    users::touch(writes, id, now);
    profiles::show_or_hide(writes, id);
}
