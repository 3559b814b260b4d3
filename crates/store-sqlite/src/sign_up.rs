//! Sign-up while verification is required: which case an address is, and what belongs to it.

use latchkey_domain::audit::{AuditEvent, AuditKind};
use latchkey_domain::codes::Purpose;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::Take;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::time::Timestamp;
use latchkey_store::{BeginSignUp, MailKind, PendingSignUp, SignUpOutcome};
use rusqlite::{Connection, params};

use crate::accounts::{self, Account, Pending};
use crate::errors::Fallible;
use crate::limits::take_all;
use crate::outbox::{self, Address};
use crate::rows::Id;
use crate::statements::{execute, rehearse};
use crate::{audit, challenges};

/// Stands for the address in a rehearsal; no address has a space.
const REHEARSED_KEY: &str = "the rehearsed address";

const CONTEST: &str = "UPDATE users SET contested = 1, updated_at = max(updated_at, ?2) WHERE id = ?1";

/// Takes the tokens and says what stands at the address.
pub(crate) fn begin(
    conn: &Connection,
    email: &EmailKey,
    takes: &[Take],
    now: Timestamp,
) -> Fallible<BeginSignUp> {
    if let Err(limited) = take_all(conn, takes, now)? {
        return Ok(BeginSignUp::Limited(limited));
    }
    Ok(match accounts::find_by_key_evenly(conn, email)? {
        None => BeginSignUp::Free,
        Some(account) if is_open(&account) => BeginSignUp::Pending(account.password),
        Some(_) => BeginSignUp::Taken,
    })
}

/// A sign-up while verification is required. Whatever the case, the statements of a new account run, so that the
/// answer takes as long; where the address has an account they are taken back.
pub(crate) fn sign_up_pending(conn: &Connection, sign_up: PendingSignUp) -> Fallible<SignUpOutcome> {
    match accounts::find_by_key_evenly(conn, sign_up.account.email.key())? {
        None => create(conn, sign_up),
        Some(account) if is_open(&account) => renew(conn, sign_up, &account),
        Some(account) => tell_owner(conn, sign_up, &account),
    }
}

/// Whether a further sign-up may do something to the account.
const fn is_open(account: &Account) -> bool {
    account.user.is_pending && !account.user.is_banned()
}

fn create(conn: &Connection, sign_up: PendingSignUp) -> Fallible<SignUpOutcome> {
    let PendingSignUp { account, challenge, mail } = sign_up;
    accounts::insert(conn, &account, account.email.key().as_str(), Pending::Yes)?;
    let id = account.id;
    let key = account.email.key();
    challenges::write(conn, key.as_str(), Purpose::VerifyEmail, Some(id), &challenge, account.now)?;
    outbox::write(conn, &mail, MailKind::Verify, Address::Of(id, &account.email), account.now)?;
    audit::record_of(conn, account.event, id)?;
    Ok(SignUpOutcome::Created)
}

fn renew(conn: &Connection, sign_up: PendingSignUp, there: &Account) -> Fallible<SignUpOutcome> {
    let outcome = match compare(there.password.as_ref(), sign_up.account.password.as_ref()) {
        Comparison::Same => SignUpOutcome::Renewed,
        Comparison::Other => SignUpOutcome::Contested,
        Comparison::NotComparable(stored) => return Ok(SignUpOutcome::Rehash(stored)),
    };
    rehearse_account(conn, &sign_up)?;
    let PendingSignUp { account, challenge, mail } = sign_up;
    let now = account.now;
    let user = &there.user;
    if outcome == SignUpOutcome::Contested {
        contest(conn, user.id, now)?;
    }
    let key = user.email.key().as_str();
    challenges::write(conn, key, Purpose::VerifyEmail, Some(user.id), &challenge, now)?;
    outbox::write(conn, &mail, MailKind::Verify, Address::Of(user.id, &user.email), now)?;
    audit::record_of(conn, repeated(account.event), user.id)?;
    Ok(outcome)
}

/// Until its mailbox is proven, nothing in the account is known to be its owner's.
pub(crate) fn contest(conn: &Connection, id: UserId, now: Timestamp) -> Fallible<()> {
    execute(conn, CONTEST, params![id.blob(), now.as_millis()])?;
    Ok(())
}

fn tell_owner(conn: &Connection, sign_up: PendingSignUp, there: &Account) -> Fallible<SignUpOutcome> {
    rehearse_account(conn, &sign_up)?;
    let user = &there.user;
    let address =
        if user.is_banned() { Address::Decoy(user.email.key()) } else { Address::Of(user.id, &user.email) };
    outbox::write(conn, &sign_up.mail, MailKind::SignUpAttempt, address, sign_up.account.now)?;
    audit::record_of(conn, repeated(sign_up.account.event), user.id)?;
    Ok(SignUpOutcome::OwnerTold)
}

fn rehearse_account(conn: &Connection, sign_up: &PendingSignUp) -> Fallible<()> {
    let account = &sign_up.account;
    let (id, now) = (account.id, account.now);
    rehearse(conn, || {
        accounts::insert(conn, account, REHEARSED_KEY, Pending::Yes)?;
        challenges::write(conn, REHEARSED_KEY, Purpose::VerifyEmail, Some(id), &sign_up.challenge, now)
    })
}

/// The event of a sign-up that made no account.
fn repeated(event: AuditEvent) -> AuditEvent {
    AuditEvent { kind: AuditKind::SignUpRepeated, ..event }
}

enum Comparison {
    Same,
    Other,
    NotComparable(PasswordHash),
}

fn compare(stored: Option<&PasswordHash>, given: Option<&PasswordHash>) -> Comparison {
    match (stored, given) {
        (Some(stored), Some(given)) if !stored.is_comparable(given) => {
            Comparison::NotComparable(stored.clone())
        }
        (stored, given) if stored == given => Comparison::Same,
        _ => Comparison::Other,
    }
}
