//! Enrolment of a TOTP factor (authenticator app), in a session, or during a sign-in whose
//! challenge requires it.

use latchkey_domain::factors::{CONFIRM_ATTEMPTS, FactorId, MAX_TOTP_FACTORS, TotpFactor, TotpStep};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::time::Timestamp;
use latchkey_store::{BeginTotp, BegunTotp, ConfirmTotp, ConfirmedTotp, Enroller, PendingTotp, StoreResult};

use super::enrolling::{self, EnrollerReads, Enrolling, may_have_two_step};
use super::factors;
use super::second_factor_guard::SecondFactorWatch;
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::totp_factors::{self, Pending};
use crate::tables::users::{self, Account};
use crate::tables::{audit_events, outbox};

/// Handles of the statements that read the session or challenge that permits the enrolment, and the account's
/// TOTP factors.
struct Reads {
    enroller: EnrollerReads,
    confirmed: Slot,
    pending: Slot,
}

fn has_most_factors(results: &Results<'_>, confirmed: Slot) -> StoreResult<bool> {
    let confirmed = totp_factors::factors(results, confirmed)?.len();
    Ok(u32::try_from(confirmed).unwrap_or(u32::MAX) >= MAX_TOTP_FACTORS)
}

/// Writes an unconfirmed factor. It replaces an earlier unconfirmed factor of the account.
pub(crate) async fn begin<E: Executor>(engine: &E, begin: BeginTotp) -> StoreResult<BegunTotp> {
    let mut script = Script::default();
    let reads = EnrollerReads::lock(&mut script, &begin.enroller, begin.now);
    let confirmed = totp_factors::list_of_enroller(&mut script, &begin.enroller);
    engine
        .transact(script, move |results| {
            let Some(enrolling) = reads.enrolling(results)? else {
                return Ok(Decided::Return(BegunTotp::NoEnroller));
            };
            let account = enrolling.account();
            if !may_have_two_step(account) {
                return Ok(Decided::Return(BegunTotp::Unverified));
            }
            if has_most_factors(results, confirmed)? {
                return Ok(Decided::Return(BegunTotp::TooMany));
            }
            let user = &account.user;
            let mut writes = Script::default();
            totp_factors::delete_pending_of(&mut writes, user.id);
            totp_factors::insert(&mut writes, user.id, &begin);
            Ok(Decided::done(writes, BegunTotp::Begun(Box::new(user.clone()))))
        })
        .await
}

/// Reads an unconfirmed factor. Returns `None` if another session or challenge began it.
pub(crate) async fn find_pending<E: Executor>(
    engine: &E,
    enroller: Enroller,
    id: FactorId,
    now: Timestamp,
) -> StoreResult<Option<Box<PendingTotp>>> {
    let mut script = Script::default();
    let reads = EnrollerReads::find(&mut script, &enroller, now);
    let pending = totp_factors::find_pending(&mut script, id);
    let finish = move |results: &Results<'_>| {
        let Some(enrolling) = reads.enrolling(results)? else { return Ok(None) };
        let user = enrolling.user();
        let pending = totp_factors::pending(results, pending)?;
        let pending = pending.filter(|pending| pending.is_of(user.id, &enroller, now));
        Ok(pending.map(|Pending { totp, .. }| Box::new(PendingTotp { totp, user: user.clone() })))
    };
    engine.read(script, finish).await
}

/// Confirms a factor, or counts a wrong code. The first confirmed factor turns two-step sign-in on.
pub(crate) async fn confirm<E: Executor>(engine: &E, confirm: ConfirmTotp) -> StoreResult<ConfirmedTotp> {
    let mut script = Script::default();
    SecondFactorWatch::over(&mut script, None, confirm.turned_on.guard.as_ref());
    let reads = Reads {
        enroller: EnrollerReads::lock(&mut script, &confirm.enroller, confirm.now),
        confirmed: totp_factors::list_of_enroller(&mut script, &confirm.enroller),
        pending: totp_factors::find_pending(&mut script, confirm.id),
    };
    engine.transact(script, move |results| decide(&confirm, &reads, results)).await
}

fn decide(
    confirm: &ConfirmTotp,
    reads: &Reads,
    results: &Results<'_>,
) -> StoreResult<Decided<ConfirmedTotp>> {
    let (id, now) = (confirm.id, confirm.now);
    let Some(enrolling) = reads.enroller.enrolling(results)? else {
        return Ok(Decided::Return(ConfirmedTotp::NoEnroller));
    };
    let account = enrolling.account();
    let is_its_own = |pending: &Pending| pending.is_of(account.user.id, &confirm.enroller, now);
    let pending = totp_factors::pending(results, reads.pending)?.filter(is_its_own);
    let may_be_confirmed = may_have_two_step(account) && !has_most_factors(results, reads.confirmed)?;
    let Some(pending) = pending.filter(|_| may_be_confirmed) else {
        return Ok(Decided::Return(ConfirmedTotp::NotFound));
    };
    let Some(step) = confirm.step else {
        let mut writes = Script::default();
        if pending.attempts + 1 < CONFIRM_ATTEMPTS {
            totp_factors::count_wrong_code(&mut writes, id);
        } else {
            totp_factors::delete(&mut writes, id);
        }
        return Ok(Decided::done(writes, ConfirmedTotp::Wrong));
    };
    let factor = TotpFactor { id, name: pending.name, created_at: now, last_used_at: Some(now) };
    if account.user.has_two_step() {
        return add(confirm, account, factor, step);
    }
    let Some(is_linked) = reads.enroller.is_identity_linked(results, &enrolling)? else {
        return Ok(Decided::Return(ConfirmedTotp::NoEnroller));
    };
    turn_on(confirm, &enrolling, is_linked, factor, step)
}

/// Adds a further factor to an account that has two-step sign-in already.
fn add(
    confirm: &ConfirmTotp,
    account: &Account,
    factor: TotpFactor,
    step: TotpStep,
) -> StoreResult<Decided<ConfirmedTotp>> {
    let (user, now) = (&account.user, confirm.now);
    let mut writes = Script::default();
    factors::invalidate_challenges(&mut writes, user.id, now);
    totp_factors::confirm(&mut writes, factor.id, step, now);
    users::touch(&mut writes, user.id, now);
    audit_events::record_of(&mut writes, confirm.added.clone(), user.id)?;
    outbox::notify(&mut writes, user, confirm.mail.as_ref(), MailKind::TotpAdded, now);
    Ok(Decided::done(writes, ConfirmedTotp::Added(factor)))
}

/// Confirms the first factor of an account, which turns two-step sign-in on.
fn turn_on(
    confirm: &ConfirmTotp,
    enrolling: &Enrolling,
    is_linked: bool,
    factor: TotpFactor,
    step: TotpStep,
) -> StoreResult<Decided<ConfirmedTotp>> {
    let (user, now, turned_on) = (enrolling.user(), confirm.now, &confirm.turned_on);
    let mut writes = Script::default();
    totp_factors::confirm(&mut writes, factor.id, step, now);
    audit_events::record_in(&mut writes, confirm.added.clone(), user.id, turned_on.session.id)?;
    enrolling::turn_on(&mut writes, enrolling, is_linked, turned_on, now)?;
    let user = users::find_by_id(&mut writes, user.id);
    Ok(Decided::write(writes, move |results| {
        Ok(ConfirmedTotp::TurnedOn(Box::new(users::user_that_is(results, user)?), factor))
    }))
}
