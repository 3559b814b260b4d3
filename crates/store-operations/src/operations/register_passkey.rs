//! Registration of a passkey for the user of a session, or of a sign-in that waits for its second factor.

use latchkey_domain::ids::SessionId;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::passkey::{MAX_PASSKEYS, Passkey};
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::undo::UndoableEvent;
use latchkey_domain::user::User;
use latchkey_store::{
    BeginPasskey, BegunPasskey, Enroller, NewPasskey, PasskeyOwner, RegisterPasskey, RegisteredPasskey,
    StoreResult, TurnedOn, UndoLink,
};

use super::enrolling::{self, EnrollerReads, Enrolling, may_have_two_step};
use super::factors;
use super::second_factor_guard::SecondFactorWatch;
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::passkeys::{self, Owned};
use crate::tables::{audit_events, operators, outbox, undo_tokens, used_ceremonies, users};

/// Handles of the statements whose results decide on a registration.
struct Reads {
    claimed: Slot,
    enroller: EnrollerReads,
    owned: Slot,
    known_credential: Slot,
}

/// Stores a WebAuthn user handle for an account that has none, and reads the data for creation options.
pub(crate) async fn begin<E: Executor>(engine: &E, begin: BeginPasskey) -> StoreResult<BegunPasskey> {
    let mut script = Script::default();
    let reads = EnrollerReads::lock(&mut script, &begin.enroller, begin.now);
    let owned = passkeys::list_of_enroller(&mut script, &begin.enroller);
    engine
        .transact(script, move |results| {
            let Some(enrolling) = reads.enrolling(results)? else {
                return Ok(Decided::Return(BegunPasskey::NoEnroller));
            };
            if !may_register(&enrolling) {
                return Ok(Decided::Return(BegunPasskey::Unverified));
            }
            let owned = passkeys::owned(results, owned)?;
            if has_most_passkeys(&owned) {
                return Ok(Decided::Return(BegunPasskey::TooMany));
            }
            let user = enrolling.user().clone();
            let mut writes = Script::default();
            if owned.user_handle.is_none() {
                passkeys::save_handle(&mut writes, user.id, begin.user_handle);
            }
            let user_handle = owned.user_handle.unwrap_or(begin.user_handle);
            let passkeys = owned.into_own().passkeys;
            let account = PasskeyOwner { user, user_handle, passkeys };
            Ok(Decided::done(writes, BegunPasskey::Begun(Box::new(account))))
        })
        .await
}

/// True if the account may register a passkey. In a session it always may; in a challenge only if two-step sign-in
/// may be turned on.
fn may_register(enrolling: &Enrolling) -> bool {
    match enrolling {
        Enrolling::Session(_) => true,
        Enrolling::Challenge(challenge) => may_have_two_step(&challenge.account),
    }
}

fn has_most_passkeys(owned: &Owned) -> bool {
    u32::try_from(owned.passkeys.len()).unwrap_or(u32::MAX) >= MAX_PASSKEYS
}

/// Stores a verified passkey. If it is registered during a sign-in, two-step sign-in is turned on too.
pub(crate) async fn register<E: Executor>(
    engine: &E,
    register: RegisterPasskey,
) -> StoreResult<RegisteredPasskey> {
    let mut script = Script::default();
    let claimed = used_ceremonies::claim(&mut script, register.ceremony);
    let guard = register.turned_on.as_ref().and_then(|turned_on| turned_on.guard.as_ref());
    SecondFactorWatch::over(&mut script, None, guard);
    let reads = Reads {
        claimed,
        enroller: EnrollerReads::lock(&mut script, &register.enroller, register.now),
        owned: passkeys::list_of_enroller(&mut script, &register.enroller),
        known_credential: passkeys::find_credential(&mut script, &register.passkey.credential_id),
    };
    engine.transact(script, move |results| decide(&register, &reads, results)).await
}

fn decide(
    register: &RegisterPasskey,
    reads: &Reads,
    results: &Results<'_>,
) -> StoreResult<Decided<RegisteredPasskey>> {
    if results.affected(reads.claimed)? == 0 {
        return Ok(Decided::Return(RegisteredPasskey::CeremonyUsed));
    }
    let enrolling = reads.enroller.enrolling(results)?.filter(may_register);
    let Some(enrolling) = enrolling else {
        return Ok(Decided::Return(RegisteredPasskey::NoEnroller));
    };
    // A concurrent registration of the same credential violates the unique key; then the operation starts again and
    // finds the credential here.
    if results.any(reads.known_credential)? {
        return Ok(Decided::Return(RegisteredPasskey::Exists));
    }
    let owned = passkeys::owned(results, reads.owned)?;
    if has_most_passkeys(&owned) {
        return Ok(Decided::Return(RegisteredPasskey::TooMany));
    }
    if owned.user_handle.is_none() {
        // The account has no user handle, so the registration was never begun.
        return Ok(Decided::Return(RegisteredPasskey::NoEnroller));
    }
    let mut writes = Script::default();
    passkeys::insert(&mut writes, enrolling.user().id, &register.passkey, register.now);
    match (&enrolling, &register.enroller, &register.turned_on) {
        (Enrolling::Session(account), Enroller::Session(_, session_id), _) => {
            add(writes, register, &account.user, *session_id)
        }
        (Enrolling::Challenge(_), _, Some(turned_on)) => {
            let Some(is_linked) = reads.enroller.is_identity_linked(results, &enrolling)? else {
                return Ok(Decided::Return(RegisteredPasskey::NoEnroller));
            };
            turn_on(writes, register, &enrolling, is_linked, turned_on)
        }
        _ => Ok(Decided::Return(RegisteredPasskey::NoEnroller)),
    }
}

/// Adds a passkey in a session. While two-step sign-in is off, the mail to the owner has an undo link.
fn add(
    mut writes: Script,
    register: &RegisterPasskey,
    user: &User,
    session_id: SessionId,
) -> StoreResult<Decided<RegisteredPasskey>> {
    let RegisterPasskey { passkey, event, mail, undoable, sleeps, now, .. } = register;
    let now = *now;
    factors::invalidate_challenges(&mut writes, user.id, now);
    if *sleeps {
        operators::sleep(&mut writes, user.id, now);
    }
    users::touch(&mut writes, user.id, now);
    audit_events::record_in(&mut writes, event.clone(), user.id, session_id)?;
    let undoable =
        undoable.as_ref().filter(|_| !user.has_two_step() && user.may_be_notified(MailKind::PasskeyAdded));
    let mail = undoable.map(|(mail, _)| mail).or(mail.as_ref());
    outbox::notify(&mut writes, user, mail, MailKind::PasskeyAdded, now);
    if let Some((_, token)) = undoable {
        let link = UndoLink { event: UndoableEvent::PasskeyAdded, happened_at: now };
        undo_tokens::insert(&mut writes, user.id, token, link, &user.email, false);
    }
    Ok(Decided::done(writes, RegisteredPasskey::Added(Box::new(registered(passkey, now)))))
}

/// Turns two-step sign-in on by a passkey. The new session records which passkey it was.
fn turn_on(
    mut writes: Script,
    register: &RegisterPasskey,
    enrolling: &Enrolling,
    is_linked: bool,
    turned_on: &TurnedOn,
) -> StoreResult<Decided<RegisteredPasskey>> {
    let RegisterPasskey { passkey, event, now, .. } = register;
    let session = NewSession { passkey: Some(passkey.id), ..turned_on.session.clone() };
    let turned_on = TurnedOn { session, ..turned_on.clone() };
    let user_id = enrolling.user().id;
    audit_events::record_in(&mut writes, event.clone(), user_id, turned_on.session.id)?;
    enrolling::turn_on(&mut writes, enrolling, is_linked, &turned_on, *now)?;
    let passkey = Box::new(registered(passkey, *now));
    let user = users::find_by_id(&mut writes, user_id);
    Ok(Decided::write(writes, move |results| {
        Ok(RegisteredPasskey::TurnedOn(Box::new(users::user_that_is(results, user)?), passkey))
    }))
}

fn registered(passkey: &NewPasskey, now: Timestamp) -> Passkey {
    let NewPasskey { id, credential_id, rp_id, name, aaguid, transports, is_backup_eligible, state, .. } =
        passkey.clone();
    Passkey {
        id,
        credential_id,
        rp_id,
        name,
        aaguid,
        transports,
        is_backup_eligible,
        is_backed_up: state.is_backed_up,
        created_at: now,
        last_used_at: None,
    }
}
