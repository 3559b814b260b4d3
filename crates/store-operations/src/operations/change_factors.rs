//! Changes of second factors by their owner, and their removal by an admin or the operator.

use latchkey_domain::codes::CodeMac;
use latchkey_domain::factors::{FactorId, FactorName, TotpFactor};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::user::User;
use latchkey_store::{
    ChangeFactors, ChangedFactors, Enroller, ResetFactors, StoreResult, TurnTwoStepOn, TurnedTwoStepOn,
};

use super::enrolling::{self, EnrollerReads, may_have_two_step};
use super::factors;
use crate::form::{Decided, Executor, Results, Script, Slot};
use crate::tables::{audit_events, outbox, passkeys, recovery_codes, sessions, totp_factors, users};

/// Handles of the statements that read the owner and the confirmed factors.
#[derive(Clone, Copy)]
pub(super) struct Reads {
    live: Slot,
    confirmed: Slot,
}

/// The user of a live session, with the account's confirmed factors.
pub(super) struct Owner {
    pub(super) user: User,
    pub(super) confirmed: Vec<TotpFactor>,
}

impl Reads {
    pub(super) fn lock<T>(script: &mut Script, change: &ChangeFactors<T>) -> Self {
        users::lock_by_id(script, change.user_id);
        Self {
            live: sessions::find_live(script, change.session_id, change.now),
            confirmed: totp_factors::list_of(script, change.user_id),
        }
    }

    pub(super) fn owner<T>(
        self,
        results: &Results<'_>,
        change: &ChangeFactors<T>,
    ) -> StoreResult<Option<Owner>> {
        let account = results.find(self.live, users::read_account)?;
        let Some(account) = account.filter(|account| account.user.id == change.user_id) else {
            return Ok(None);
        };
        Ok(Some(Owner { user: account.user, confirmed: totp_factors::factors(results, self.confirmed)? }))
    }
}

/// Writes what every change of factors except a renaming needs: invalidates the challenges, updates the user's time of
/// change, and adds the audit event and the mail.
pub(super) fn record<T>(
    writes: &mut Script,
    user: &User,
    change: &ChangeFactors<T>,
    mail: Option<MailKind>,
) -> StoreResult<()> {
    factors::invalidate_challenges(writes, user.id, change.now);
    users::touch(writes, user.id, change.now);
    audit_events::record_in(writes, change.event.clone(), user.id, change.session_id)?;
    if let Some(kind) = mail {
        outbox::notify(writes, user, change.mail.as_ref(), kind, change.now);
    }
    Ok(())
}

pub(crate) async fn rename<E: Executor>(
    engine: &E,
    rename: ChangeFactors<(FactorId, FactorName)>,
) -> StoreResult<ChangedFactors<TotpFactor>> {
    let mut script = Script::default();
    let reads = Reads::lock(&mut script, &rename);
    engine
        .transact(script, move |results| {
            let Some(owner) = reads.owner(results, &rename)? else {
                return Ok(Decided::Return(ChangedFactors::NoSession));
            };
            let (id, name) = &rename.change;
            let Some(factor) = owner.confirmed.into_iter().find(|factor| factor.id == *id) else {
                return Ok(Decided::Return(ChangedFactors::NotFound));
            };
            let mut writes = Script::default();
            totp_factors::rename(&mut writes, *id, name);
            let factor = TotpFactor { name: name.clone(), ..factor };
            Ok(Decided::done(writes, ChangedFactors::Changed(factor)))
        })
        .await
}

/// Removes a TOTP factor, unless it is the last second factor of an account with two-step sign-in.
pub(crate) async fn remove<E: Executor>(
    engine: &E,
    remove: ChangeFactors<FactorId>,
) -> StoreResult<ChangedFactors> {
    let mut script = Script::default();
    let reads = Reads::lock(&mut script, &remove);
    engine
        .transact(script, move |results| {
            let Some(Owner { user, confirmed }) = reads.owner(results, &remove)? else {
                return Ok(Decided::Return(ChangedFactors::NoSession));
            };
            if confirmed.iter().all(|factor| factor.id != remove.change) {
                return Ok(Decided::Return(ChangedFactors::NotFound));
            }
            let has_passkey = user.has_usable_passkey(remove.rp_id.as_ref());
            if user.has_two_step() && confirmed.len() == 1 && !has_passkey {
                return Ok(Decided::Return(ChangedFactors::LastSecondFactor));
            }
            let mut writes = Script::default();
            totp_factors::delete(&mut writes, remove.change);
            record(&mut writes, &user, &remove, None)?;
            Ok(Decided::done(writes, ChangedFactors::Changed(())))
        })
        .await
}

/// Turns two-step sign-in on by a passkey alone.
pub(crate) async fn turn_two_step_on<E: Executor>(
    engine: &E,
    on: TurnTwoStepOn,
) -> StoreResult<TurnedTwoStepOn> {
    let enroller = Enroller::Session(on.user_id, on.session_id);
    let mut script = Script::default();
    let reads = EnrollerReads::lock(&mut script, &enroller, on.now);
    engine
        .transact(script, move |results| {
            let Some(enrolling) = reads.enrolling(results)? else {
                return Ok(Decided::Return(TurnedTwoStepOn::NoSession));
            };
            let user = enrolling.user();
            if user.has_two_step() {
                return Ok(Decided::Return(TurnedTwoStepOn::Unchanged));
            }
            // A TOTP factor is confirmed only while two-step sign-in is on.
            if !user.has_usable_passkey(on.rp_id.as_ref()) {
                return Ok(Decided::Return(TurnedTwoStepOn::NoFactor));
            }
            if !may_have_two_step(enrolling.account()) {
                return Ok(Decided::Return(TurnedTwoStepOn::Unverified));
            }
            let mut writes = Script::default();
            enrolling::turn_on(&mut writes, &enrolling, true, &on.turned_on, on.now)?;
            let user = users::find_by_id(&mut writes, on.user_id);
            Ok(Decided::write(writes, move |results| {
                Ok(TurnedTwoStepOn::TurnedOn(Box::new(users::user_that_is(results, user)?)))
            }))
        })
        .await
}

/// Turns two-step sign-in off and removes TOTP factors and recovery codes. Sessions go on.
pub(crate) async fn turn_two_step_off<E: Executor>(
    engine: &E,
    off: ChangeFactors<()>,
) -> StoreResult<ChangedFactors> {
    let mut script = Script::default();
    let reads = Reads::lock(&mut script, &off);
    engine
        .transact(script, move |results| {
            let Some(Owner { user, .. }) = reads.owner(results, &off)? else {
                return Ok(Decided::Return(ChangedFactors::NoSession));
            };
            if !user.has_two_step() {
                return Ok(Decided::Return(ChangedFactors::Unchanged));
            }
            let mut writes = Script::default();
            factors::remove_all_of(&mut writes, user.id);
            record(&mut writes, &user, &off, Some(MailKind::TwoStepOff))?;
            Ok(Decided::done(writes, ChangedFactors::Changed(())))
        })
        .await
}

pub(crate) async fn replace_recovery_codes<E: Executor>(
    engine: &E,
    replace: ChangeFactors<Vec<CodeMac>>,
) -> StoreResult<ChangedFactors> {
    let mut script = Script::default();
    let reads = Reads::lock(&mut script, &replace);
    engine
        .transact(script, move |results| {
            let Some(Owner { user, .. }) = reads.owner(results, &replace)? else {
                return Ok(Decided::Return(ChangedFactors::NoSession));
            };
            if !user.has_two_step() {
                return Ok(Decided::Return(ChangedFactors::LastSecondFactor));
            }
            let mut writes = Script::default();
            recovery_codes::replace(&mut writes, user.id, &replace.change, replace.now);
            record(&mut writes, &user, &replace, Some(MailKind::RecoveryCodesMade))?;
            Ok(Decided::done(writes, ChangedFactors::Changed(())))
        })
        .await
}

/// Removes all second factors of an account, with or without its passkeys, and ends its sessions.
pub(crate) async fn reset<E: Executor>(engine: &E, reset: ResetFactors) -> StoreResult<bool> {
    let ResetFactors { user_id, with_passkeys, event, mail, now } = reset;
    let mut script = Script::default();
    users::lock_by_id(&mut script, user_id);
    let found = users::find_by_id(&mut script, user_id);
    engine
        .transact(script, move |results| {
            let Some(account) = users::account(results, found)? else {
                return Ok(Decided::Return(false));
            };
            let mut writes = Script::default();
            factors::invalidate_challenges(&mut writes, user_id, now);
            factors::remove_all_of(&mut writes, user_id);
            if with_passkeys {
                passkeys::delete_all_of(&mut writes, user_id);
            }
            users::touch(&mut writes, user_id, now);
            sessions::end_all_of(&mut writes, user_id, now);
            audit_events::record_of(&mut writes, event.clone(), user_id)?;
            outbox::notify(&mut writes, &account.user, mail.as_ref(), MailKind::FactorsReset, now);
            Ok(Decided::done(writes, true))
        })
        .await
}
