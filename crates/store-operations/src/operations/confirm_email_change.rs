//! Second step of a change of email address: the user enters the mailed codes, and the address changes once all are
//! right.

use std::collections::BTreeMap;

use latchkey_domain::audit::AuditKind;
use latchkey_domain::email_change::{EmailChange, Side, needs_current_address};
use latchkey_domain::email_verification::Verification;
use latchkey_domain::guess_limits;
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::LimitKey;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::time::Timestamp;
use latchkey_domain::undo::UndoableEvent;
use latchkey_store::{
    ConfirmEmailChange, ConfirmedEmailChange, LimitedResult, ListOwnEvents, ShownCode, StoreError,
    StoreResult, UndoLink,
};

use super::code_attempts::{CodeOwner, CodeReads, Tried};
use super::prove_mailbox::{Proven, prove};
use super::{delete_account, takes};
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::outbox::{self, Address};
use crate::tables::users::{self, Account};
use crate::tables::{audit_events, email_changes, known_clients, sessions, sign_up_attempts, undo_tokens};

type Outcome = Decided<Result<ConfirmedEmailChange, latchkey_domain::limits::Limited>>;

/// Handles of the statements that read the session, the change of address, its codes, and the events of
/// recent sign-ins.
#[derive(Clone, Copy)]
struct Reads {
    limit: Option<Slot>,
    live: Slot,
    change: Slot,
    pending_at_new: Slot,
    is_taken: Slot,
    new: CodeReads,
    current: CodeReads,
    entrances: [Slot; 3],
}

/// Kinds of audit events that can mark the beginning of a session. Such an event with a session id opened
/// that session.
const ENTRANCES: [AuditKind; 3] = [AuditKind::SignedIn, AuditKind::EmailVerified, AuditKind::SignedUp];
/// Maximum number of audit events, of each kind, from which the recent clients of an account are read.
const MOST_ENTRANCES: u32 = 100;

/// A change of address, after the entered codes were compared.
struct Judged {
    change: EmailChange,
    is_any_wrong: bool,
}

pub(crate) async fn confirm<E: Executor>(
    engine: &E,
    confirm: ConfirmEmailChange,
) -> LimitedResult<ConfirmedEmailChange> {
    let mut script = Script::default();
    let reads = Reads::add(&mut script, &confirm);
    engine.transact(script, move |results| decide(&confirm, reads, results)).await
}

fn decide(confirm: &ConfirmEmailChange, reads: Reads, results: &Results<'_>) -> StoreResult<Outcome> {
    if let Some(limited) = takes::limited(results, reads.limit)? {
        return Ok(Decided::Return(Err(limited)));
    }
    let account = results.find(reads.live, users::read_account)?;
    let Some(account) = account.filter(|account| account.user.id == confirm.user_id) else {
        return Ok(Decided::Return(Ok(ConfirmedEmailChange::NoSession)));
    };
    if *account.user.email.key() != confirm.email {
        return Ok(Decided::Return(Ok(ConfirmedEmailChange::Moved)));
    }
    let mut writes = Script::default();
    let change = email_changes::live(results, reads.change, confirm.now)?;
    let is_own =
        |change: &EmailChange| change.id == confirm.id && change.session_id == Some(confirm.session_id);
    let Some(mut change) = change.filter(is_own) else {
        return Ok(Decided::done(writes, Ok(ConfirmedEmailChange::NotFound)));
    };
    // The address may have been verified since the change began, or two-step sign-in turned off.
    let user = &account.user;
    change.needs_current |= needs_current_address(user.email_verified, user.has_two_step());
    let Judged { change, is_any_wrong } = reads.judge(results, &mut writes, confirm, change)?;
    if change.is_new_proven {
        for pending in results.list(reads.pending_at_new, |cells| cells.of("users").id::<UserId>("id"))? {
            delete_account::delete(&mut writes, pending);
            audit_events::record_of(&mut writes, confirm.writes.removed.clone(), pending)?;
        }
    }
    let needs = change.needs();
    if !needs.is_empty() {
        email_changes::save_proofs(&mut writes, confirm.user_id, &change);
        let outcome =
            if is_any_wrong { ConfirmedEmailChange::Refused } else { ConfirmedEmailChange::Needs(needs) };
        return Ok(Decided::done(writes, Ok(outcome)));
    }
    if results.any(reads.is_taken)? {
        email_changes::delete_of(&mut writes, confirm.user_id);
        return Ok(Decided::done(writes, Ok(ConfirmedEmailChange::Taken)));
    }
    for (key, until) in reads.known_clients(results, confirm, &change)? {
        known_clients::save(&mut writes, &key, until);
    }
    complete(confirm, account, &change, writes)
}

impl Reads {
    fn add(script: &mut Script, confirm: &ConfirmEmailChange) -> Self {
        let ConfirmEmailChange { user_id, session_id, email, lane, now, .. } = confirm;
        let limit = takes::take(script, &confirm.takes, *now);
        users::lock_by_id(script, *user_id);
        let pending_at_new = email_changes::lock_pending_at_new(script, *user_id);
        Self {
            limit,
            pending_at_new,
            current: CodeReads::lock(script, email, Side::Current.purpose(), lane),
            new: CodeReads::lock(script, email, Side::New.purpose(), lane),
            live: sessions::find_live(script, *session_id, *now),
            change: email_changes::find(script, *user_id),
            is_taken: email_changes::find_taken(script, *user_id, *now),
            entrances: ENTRANCES.map(|kind| {
                let since = now.minus(confirm.known_for.unwrap_or_default());
                let limit = MOST_ENTRANCES;
                let list = ListOwnEvents { user_id: *user_id, only: Some(kind), since, before: None, limit };
                audit_events::list_of_user(script, &list, i64::from(limit))
            }),
        }
    }

    /// Returns the clients that signed in to the account recently, each with the time until which it is a
    /// known client of the new address.
    fn known_clients(
        self,
        results: &Results<'_>,
        confirm: &ConfirmEmailChange,
        change: &EmailChange,
    ) -> StoreResult<BTreeMap<LimitKey, Timestamp>> {
        let mut known = BTreeMap::new();
        let Some(known_for) = confirm.known_for else { return Ok(known) };
        for slot in self.entrances {
            for event in results.list(slot, audit_events::read_event)? {
                if let (Some(client), Some(_)) = (event.client, event.session_id) {
                    let key = guess_limits::known_client(change.new_email.key(), client.address);
                    let until = known.entry(key).or_insert(event.at);
                    *until = event.at.plus(known_for).max(*until);
                }
            }
        }
        Ok(known)
    }

    /// Compares the entered codes with those mailed to the addresses that are not proven yet.
    fn judge(
        self,
        results: &Results<'_>,
        writes: &mut Script,
        confirm: &ConfirmEmailChange,
        mut change: EmailChange,
    ) -> StoreResult<Judged> {
        let mut is_any_wrong = false;
        for side in change.needs() {
            let (reads, shown) = match side {
                Side::New => (self.new, confirm.new),
                Side::Current => (self.current, confirm.current),
            };
            let is_right = match shown {
                None => continue,
                Some(ShownCode::Malformed) => false,
                Some(ShownCode::Code(mac, form)) => {
                    let ConfirmEmailChange { email, lane, now, user_id, .. } = confirm;
                    let tried = Tried { email, purpose: side.purpose(), mac: &mac, form, lane, now: *now };
                    reads.redeem(results, writes, &tried, Some(CodeOwner::User(*user_id)))?
                }
            };
            if is_right {
                change.prove(side);
            }
            is_any_wrong |= !is_right;
        }
        Ok(Judged { change, is_any_wrong })
    }
}

/// Changes the address of an account after all required codes were right.
fn complete(
    confirm: &ConfirmEmailChange,
    account: Account,
    change: &EmailChange,
    mut writes: Script,
) -> StoreResult<Outcome> {
    let ConfirmEmailChange { session_id, writes: new, now, .. } = confirm;
    let (user, email, now) = (account.user.clone(), &change.new_email, *now);
    users::set_email(&mut writes, user.id, email);
    prove(&mut writes, &Proven { account, profile: None }, Verification::NewAddress, None, now);
    sign_up_attempts::delete(&mut writes, user.id); // made for the old address
    sessions::end_others(&mut writes, user.id, *session_id, now);
    audit_events::record_in(&mut writes, new.event.clone(), user.id, *session_id)?;
    outbox::notify(&mut writes, &user, new.to_old.as_ref(), MailKind::EmailChanged, now);
    if let Some(mail) = &new.to_new {
        outbox::write(&mut writes, mail, MailKind::EmailChangedNew, Address::Of(user.id, email), now);
    }
    if let (Some(_), Some(undo)) = (&new.to_old, &new.undo)
        && user.may_be_notified(MailKind::EmailChanged)
    {
        let link = UndoLink { event: UndoableEvent::EmailChanged, happened_at: now };
        undo_tokens::insert(&mut writes, user.id, undo, link, &user.email, user.has_two_step());
    }
    let live = sessions::find_live(&mut writes, *session_id, now);
    Ok(Decided::write(writes, move |results| {
        let live = results.find(live, sessions::read_live)?;
        let live = live.ok_or(StoreError::Corrupt { table: "sessions", column: "id" })?;
        Ok(Ok(ConfirmedEmailChange::Changed(Box::new(live))))
    }))
}
