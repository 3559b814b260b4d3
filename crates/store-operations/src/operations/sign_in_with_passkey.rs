//! Sign-in with a passkey, and the judgement of an assertion that it shares with answers to challenges.

use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::passkey::{PasskeyState, may_follow};
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use latchkey_store::{
    Entry, PasskeyRefusal, PasskeySignIn, ShownPasskey, SignInWithPasskey, StoreResult, VerifiablePasskey,
};

use super::entry::{self, Opening, Way};
use super::guards::{self, Hold};
use super::sign_in::pend_no_more;
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::limit_failures::Counters;
use crate::tables::{audit_events, known_clients, outbox, passkeys, used_ceremonies};

/// Returns the new state of an accepted passkey; `None` if the passkey is refused.
pub(super) fn accepted(shown: &ShownPasskey, stored: &VerifiablePasskey) -> Option<PasskeyState> {
    shown.state.filter(|state| may_follow(stored.counter, state.counter))
}

/// Writes audit event and mail about a passkey that may have been copied, because its signature counter
/// did not increase.
pub(super) fn write_refusal(
    writes: &mut Script,
    user: &User,
    refusal: &PasskeyRefusal,
    now: Timestamp,
) -> StoreResult<()> {
    audit_events::record_of(writes, refusal.event.clone(), user.id)?;
    outbox::notify(writes, user, refusal.mail.as_ref(), MailKind::PasskeyRefused, now);
    Ok(())
}

pub(crate) async fn sign_in<E: Executor>(
    engine: &E,
    sign_in: SignInWithPasskey,
) -> StoreResult<PasskeySignIn> {
    let mut script = Script::default();
    let claimed = used_ceremonies::claim(&mut script, sign_in.ceremony);
    if let Some(guard) = &sign_in.guard {
        Counters::find(&mut script, &[guard.pair], Hold::Locked); // a successful sign-in resets it
    }
    passkeys::lock_user(&mut script, sign_in.shown.id);
    let found = passkeys::find(&mut script, sign_in.shown.id);
    engine.transact(script, move |results| decide(&sign_in, claimed, found, results)).await
}

fn decide(
    sign_in: &SignInWithPasskey,
    claimed: Slot,
    found: Slot,
    results: &Results<'_>,
) -> StoreResult<Decided<PasskeySignIn>> {
    if results.affected(claimed)? == 0 {
        return Ok(Decided::Return(PasskeySignIn::CeremonyUsed));
    }
    let found = passkeys::with_account(results, found)?;
    let Some((stored, account)) = found.filter(|(stored, _)| stored.passkey.rp_id == sign_in.rp_id) else {
        return Ok(Decided::Return(PasskeySignIn::Gone));
    };
    let (user, now) = (&account.user, sign_in.entry.session.created_at);
    let mut writes = Script::default();
    let Some(state) = accepted(&sign_in.shown, &stored) else {
        write_refusal(&mut writes, user, &sign_in.refusal, now)?;
        return Ok(Decided::done(writes, PasskeySignIn::Refused));
    };
    if user.is_banned() {
        return Ok(Decided::Return(PasskeySignIn::Banned));
    }
    if sign_in.must_verify && !user.email_verified {
        return Ok(Decided::Return(PasskeySignIn::Unverified));
    }
    passkeys::accept(&mut writes, stored.passkey.id, state, now);
    open(writes, sign_in, &stored, user)
}

/// Opens the session by [`entry::open`]. A passkey counts as both factors (level 2), so no challenge
/// follows.
fn open(
    mut writes: Script,
    sign_in: &SignInWithPasskey,
    stored: &VerifiablePasskey,
    user: &User,
) -> StoreResult<Decided<PasskeySignIn>> {
    let session = NewSession { passkey: Some(stored.passkey.id), ..sign_in.entry.session.clone() };
    let entry = Entry { session, ..sign_in.entry.clone() };
    let way = Way::of(Some(user), &entry);
    if way == Way::Session && user.is_pending {
        pend_no_more(&mut writes, user.id, entry.session.created_at);
    }
    entry::open(&mut writes, user.id, &entry, way, None)?;
    if way == Way::Session {
        if let Some(guard) = &sign_in.guard {
            guards::forgive(&mut writes, guard);
        }
        known_clients::remember(&mut writes, user.email.key(), &entry.session);
        audit_events::record_in(&mut writes, sign_in.event.clone(), user.id, entry.session.id)?;
    }
    let opening = Opening::find(&mut writes, user.id, &entry, way);
    Ok(Decided::write(writes, move |results| Ok(PasskeySignIn::Entered(opening.entered(results)?))))
}
