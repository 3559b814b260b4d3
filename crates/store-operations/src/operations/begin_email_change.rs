//! First step of a change of email address: a code to the old address, the new one, or both. The same statements are
//! executed whether the new address is free, taken or reserved, so that response times are equal.

use latchkey_domain::email_change::{EmailChange, Side, needs_current_address};
use latchkey_domain::ids::UserId;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::user::User;
use latchkey_store::{BeginEmailChange, BegunEmailChange, LimitedResult, SideCode, StoreResult};

use super::code_lanes::{Asked, LaneReads, mail_of_code};
use super::{request_code, takes};
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::outbox::{self, Address};
use crate::tables::users::{self, Account};
use crate::tables::{audit_events, codes, email_changes, sessions, undo_tokens};

/// Handles of the statements that check the session and the rate limits, and read the state of both
/// addresses.
#[derive(Clone, Copy)]
struct Reads {
    limit: Option<Slot>,
    live: Slot,
    at_new: Slot,
    is_reserved: Slot,
    lane_of_new: LaneReads,
    lane_of_current: LaneReads,
}

/// State of the new address. It decides which mail is written, and to whom.
enum NewAddress {
    /// No account has the address, or a pending account has it, which is deleted when the address is proven.
    Free,
    /// Another account has the address.
    Taken(Box<User>),
    /// The address is reserved for another account, which gave it up and can still take it back by an undo
    /// link.
    Reserved,
}

pub(crate) async fn begin<E: Executor>(
    engine: &E,
    begin: BeginEmailChange,
) -> LimitedResult<BegunEmailChange> {
    let mut script = Script::default();
    let reads = Reads::add(&mut script, &begin);
    engine
        .transact(script, move |results| {
            if let Some(limited) = takes::limited(results, reads.limit)? {
                return Ok(Decided::Return(Err(limited)));
            }
            let account = results.find(reads.live, users::read_account)?;
            let Some(Account { user, .. }) = account.filter(|account| account.user.id == begin.user_id)
            else {
                return Ok(Decided::Return(Ok(BegunEmailChange::NoSession)));
            };
            if *user.email.key() != begin.email {
                return Ok(Decided::Return(Ok(BegunEmailChange::Moved)));
            }
            let at_new = reads.new_address(results, &begin)?;
            let of_new = reads.lane_of_new.asked(results, &begin.to_new.code, begin.now)?;
            let of_current = reads.lane_of_current.asked(results, &begin.to_current.code, begin.now)?;
            let (writes, needs) = write(&begin, &user, &at_new, (of_new, of_current))?;
            Ok(Decided::done(writes, Ok(BegunEmailChange::Begun(needs))))
        })
        .await
}

impl Reads {
    fn add(script: &mut Script, begin: &BeginEmailChange) -> Self {
        let (email, new, now) = (&begin.email, begin.new_email.key(), begin.now);
        let lane = |script: &mut Script, side: Side, to: &SideCode| {
            LaneReads::find(script, email, side.purpose(), &to.code.lane)
        };
        let limit = takes::take(script, &begin.takes, now);
        users::lock_by_id(script, begin.user_id);
        Self {
            limit,
            live: sessions::find_live(script, begin.session_id, now),
            at_new: users::find_by_key_at_constant_cost(script, new),
            is_reserved: undo_tokens::find_reservation(script, new, Some(begin.user_id), now),
            lane_of_new: lane(script, Side::New, &begin.to_new),
            lane_of_current: lane(script, Side::Current, &begin.to_current),
        }
    }

    fn new_address(self, results: &Results<'_>, begin: &BeginEmailChange) -> StoreResult<NewAddress> {
        let at_new = users::account_of_key(results, self.at_new, begin.new_email.key())?;
        let is_reserved = undo_tokens::is_reserved(results, self.is_reserved)?;
        Ok(match at_new {
            Some(owner) if !owner.user.accepts_sign_up() => NewAddress::Taken(Box::new(owner.user)),
            _ if is_reserved => NewAddress::Reserved,
            _ => NewAddress::Free,
        })
    }
}

fn write(
    begin: &BeginEmailChange,
    user: &User,
    at_new: &NewAddress,
    (of_new, of_current): (Asked, Asked),
) -> StoreResult<(Script, Vec<Side>)> {
    let BeginEmailChange { id, new_email, to_new, to_current, expires_at, event, now, .. } = begin;
    let needs_current = needs_current_address(user.email_verified, user.has_two_step());
    let change = EmailChange {
        id: *id,
        session_id: Some(begin.session_id),
        new_email: new_email.clone(),
        needs_current,
        is_new_proven: false,
        is_current_proven: false,
        expires_at: *expires_at,
    };
    let mut writes = Script::default();
    email_changes::save(&mut writes, user.id, &change, *now);
    let (owner, kind, address) = match at_new {
        NewAddress::Free => (Some(user.id), MailKind::EmailChange, Address::Of(user.id, new_email)),
        NewAddress::Taken(owner) if owner.may_be_notified(MailKind::EmailChangeAttempt) => {
            (None, MailKind::EmailChangeAttempt, Address::Of(owner.id, &owner.email))
        }
        NewAddress::Taken(_) | NewAddress::Reserved => {
            (None, MailKind::EmailChangeAttempt, Address::Decoy(new_email.key()))
        }
    };
    write_code(&mut writes, begin, Side::New, owner, (to_new, of_new));
    outbox::write(&mut writes, &mail_of_code(&to_new.code, &to_new.mail, of_new), kind, address, *now);
    if needs_current {
        write_code(&mut writes, begin, Side::Current, Some(user.id), (to_current, of_current));
        let address = Address::Of(user.id, &user.email);
        let mail = mail_of_code(&to_current.code, &to_current.mail, of_current);
        outbox::write(&mut writes, &mail, MailKind::EmailChange, address, *now);
    }
    audit_events::record_in(&mut writes, event.clone(), user.id, begin.session_id)?;
    Ok((writes, change.needs()))
}

/// Writes the code for the old or the new address. All codes of an earlier change for that address are
/// deleted first. If `owner` is `None`, the code is never valid; it is written so that response times are
/// equal.
fn write_code(
    writes: &mut Script,
    begin: &BeginEmailChange,
    side: Side,
    owner: Option<UserId>,
    (to, asked): (&SideCode, Asked),
) {
    let (key, purpose) = (begin.email.as_str(), side.purpose());
    codes::delete_code(writes, key, purpose);
    request_code::write_code(writes, key, purpose, owner, (&to.code, asked), begin.now);
}
