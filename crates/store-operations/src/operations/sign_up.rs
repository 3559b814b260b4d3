//! Sign-up while verification is required: lookup of the email address, and the writes after the password is hashed.

use latchkey_domain::audit::{AuditEvent, AuditKind};
use latchkey_domain::codes::Purpose;
use latchkey_domain::email::EmailKey;
use latchkey_domain::limits::Take;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::sign_in::reusable_salt;
use latchkey_domain::time::Timestamp;
use latchkey_store::{BeginSignUp, LimitedResult, PendingSignUp, SignUpOutcome, StoreResult};

use super::code_lanes::{AskReads, Asked, mail_of};
use super::guards::take_and_read;
use super::{request_code, takes};
use crate::form::{Decided, Executor, Results, Script};
use crate::tables::outbox::{self, Address};
use crate::tables::users::{self, Account, Pending};
use crate::tables::{audit_events, sign_up_attempts, undo_tokens};

/// Takes tokens from the rate limits, and returns whether the email address is free, taken, or that of a
/// pending account.
pub(crate) async fn begin<E: Executor>(
    engine: &E,
    email: &EmailKey,
    takes: &[Take],
    now: Timestamp,
) -> LimitedResult<BeginSignUp> {
    let mut script = Script::default();
    let limit = takes::take(&mut script, takes, now);
    let found = users::find_by_key_at_constant_cost(&mut script, email);
    let reservation = undo_tokens::find_reservation(&mut script, email, None, now);
    let email = email.clone();
    let finish = move |results: &Results<'_>| {
        if let Some(limited) = takes::limited(results, limit)? {
            return Ok(Err(limited));
        }
        Ok(Ok(match users::account_of_key(results, found, &email)? {
            None if undo_tokens::is_reserved(results, reservation)? => BeginSignUp::Taken(None),
            None => BeginSignUp::Free,
            Some(account) if account.user.accepts_sign_up() => {
                BeginSignUp::Pending(reusable_salt(account.password))
            }
            Some(account) => BeginSignUp::Taken(reusable_salt(account.password)),
        }))
    };
    take_and_read(engine, script, finish).await
}

/// Signs up while verification is required. The statements of a new account are executed in every case, so that
/// response times are equal. If the address has an account already, they are rolled back.
pub(crate) async fn sign_up_pending<E: Executor>(
    engine: &E,
    sign_up: PendingSignUp,
) -> StoreResult<SignUpOutcome> {
    let mut reads = Script::default();
    users::lock_by_key_at_constant_cost(&mut reads, sign_up.account.email.key());
    let found = users::find_by_key_at_constant_cost(&mut reads, sign_up.account.email.key());
    let reservation =
        undo_tokens::find_reservation(&mut reads, sign_up.account.email.key(), None, sign_up.account.now);
    let lane =
        AskReads::find(&mut reads, sign_up.account.email.key(), Purpose::VerifyEmail, &sign_up.email_code);
    engine
        .transact(reads, move |results| {
            let asked = lane.asked(results, &sign_up.email_code, sign_up.account.now)?;
            let Some(account) = users::account_of_key(results, found, sign_up.account.email.key())? else {
                let is_reserved = undo_tokens::is_reserved(results, reservation)?;
                return if is_reserved { tell_nobody(&sign_up, asked) } else { create(&sign_up, asked) };
            };
            if let Some(stored) = incomparable(&account, sign_up.account.password.as_ref()) {
                return Ok(Decided::Return(SignUpOutcome::Rehash(stored)));
            }
            if account.user.accepts_sign_up() {
                renew(&sign_up, asked, &account)
            } else {
                tell_owner(&sign_up, asked, &account)
            }
        })
        .await
}

fn create(sign_up: &PendingSignUp, asked: Asked) -> StoreResult<Decided<SignUpOutcome>> {
    let PendingSignUp { account, email_code, mail } = sign_up;
    let (id, key) = (account.id, account.email.key().as_str());
    let mut writes = Script::default();
    writes.change(&users::SAVE_POINT, Vec::new());
    users::insert(&mut writes, account, key, Pending::Yes)?;
    sign_up_attempts::remember_browser(&mut writes, id, account.browser.as_ref(), account.now);
    request_code::write(&mut writes, key, Purpose::VerifyEmail, Some(id), (email_code, asked), account.now);
    writes.change(&users::KEEP, Vec::new());
    sign_up_attempts::save(&mut writes, id, account.password.as_ref(), account.now);
    let mail = mail_of(email_code, mail, asked);
    outbox::write(&mut writes, &mail, MailKind::Verify, Address::Of(id, &account.email), account.now);
    audit_events::record_of(&mut writes, account.event.clone(), id)?;
    Ok(Decided::done(writes, SignUpOutcome::Created))
}

fn renew(sign_up: &PendingSignUp, asked: Asked, there: &Account) -> StoreResult<Decided<SignUpOutcome>> {
    let PendingSignUp { account, email_code, mail } = sign_up;
    let is_same = there.password == account.password;
    let outcome = if is_same { SignUpOutcome::Renewed } else { SignUpOutcome::Contested };
    let (user, now) = (&there.user, account.now);
    let mut writes = Script::default();
    rehearse_account(&mut writes, sign_up, asked)?;
    sign_up_attempts::save(&mut writes, user.id, account.password.as_ref(), now);
    users::renew_sign_up(&mut writes, user.id, now);
    if outcome == SignUpOutcome::Contested {
        users::contest(&mut writes, user.id, now);
    }
    sign_up_attempts::remember_browser(&mut writes, user.id, account.browser.as_ref(), now);
    let key = user.email.key().as_str();
    request_code::write(&mut writes, key, Purpose::VerifyEmail, Some(user.id), (email_code, asked), now);
    let mail = mail_of(email_code, mail, asked);
    outbox::write(&mut writes, &mail, MailKind::Verify, Address::Of(user.id, &user.email), now);
    audit_events::record_of(&mut writes, repeated(account.event.clone()), user.id)?;
    Ok(Decided::done(writes, outcome))
}

fn tell_owner(sign_up: &PendingSignUp, asked: Asked, there: &Account) -> StoreResult<Decided<SignUpOutcome>> {
    let PendingSignUp { account, email_code, mail } = sign_up;
    let user = &there.user;
    let mut writes = Script::default();
    rehearse_account(&mut writes, sign_up, asked)?;
    sign_up_attempts::save(&mut writes, user.id, account.password.as_ref(), account.now);
    let address = if user.may_be_mailed() {
        Address::Of(user.id, &user.email)
    } else {
        Address::Decoy(user.email.key())
    };
    let mail = mail_of(email_code, mail, asked);
    outbox::write(&mut writes, &mail, MailKind::SignUpAttempt, address, account.now);
    audit_events::record_of(&mut writes, repeated(account.event.clone()), user.id)?;
    Ok(Decided::done(writes, SignUpOutcome::OwnerTold))
}

/// Handles a sign-up with a reserved address. It costs as much as one with a taken address, but no mail is sent.
fn tell_nobody(sign_up: &PendingSignUp, asked: Asked) -> StoreResult<Decided<SignUpOutcome>> {
    let PendingSignUp { account, email_code, mail } = sign_up;
    let key = account.email.key();
    let mut writes = Script::default();
    rehearse_account(&mut writes, sign_up, asked)?;
    undo_tokens::save_sign_up(&mut writes, key, account.password.as_ref(), account.now);
    let mail = mail_of(email_code, mail, asked);
    outbox::write(&mut writes, &mail, MailKind::SignUpAttempt, Address::Decoy(key), account.now);
    audit_events::record(&mut writes, repeated(account.event.clone()))?;
    Ok(Decided::done(writes, SignUpOutcome::OwnerTold))
}

/// Inserts the account and rolls the insert back, so that a sign-up with a taken address takes as long as one with a
/// free address. The inserted `email_key` is a unique text instead of the address, so that concurrent sign-ups with
/// one address do not wait for each other.
fn rehearse_account(writes: &mut Script, sign_up: &PendingSignUp, asked: Asked) -> StoreResult<()> {
    let PendingSignUp { account, email_code, .. } = sign_up;
    let key = format!("rehearsal {}", account.id);
    writes.change(&users::SAVE_POINT, Vec::new());
    users::insert(writes, account, &key, Pending::Yes)?;
    sign_up_attempts::remember_browser(writes, account.id, account.browser.as_ref(), account.now);
    let user_id = Some(account.id);
    request_code::write(writes, &key, Purpose::VerifyEmail, user_id, (email_code, asked), account.now);
    writes.change(&users::TAKE_BACK, Vec::new());
    Ok(())
}

/// Changes the kind of a sign-up's audit event to the one for a sign-up that created no account.
fn repeated(event: AuditEvent) -> AuditEvent {
    AuditEvent { kind: AuditKind::SignUpRepeated, ..event }
}

/// Returns the account's password hash if it cannot be compared with the given hash, because salt or parameters
/// differ; otherwise `None`.
fn incomparable(there: &Account, given: Option<&PasswordHash>) -> Option<PasswordHash> {
    reusable_salt(there.password.clone())
        .filter(|stored| given.is_some_and(|given| !stored.is_comparable(given)))
}
