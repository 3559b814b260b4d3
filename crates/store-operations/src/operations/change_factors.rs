//! Changes of second factors by their owner, and their removal by an admin or the operator.

use latchkey_domain::codes::CodeMac;
use latchkey_domain::factors::{FactorId, FactorName, TotpFactor};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::operator::Effect;
use latchkey_domain::passkey::Passkeys as OwnPasskeys;
use latchkey_domain::user::User;
use latchkey_store::{
    ChangeFactors, ChangedFactors, Enroller, GuardedResult, ResetFactors, StoreResult, TurnTwoStepOn,
    TurnedTwoStepOn,
};

use super::enrolling::{self, EnrollerReads, may_have_two_step};
use super::factors;
use super::operator_guard::OperatorReads;
use crate::form::{Decided, Executor, Script};
use crate::tables::{audit_events, outbox, passkeys, recovery_codes, sessions, totp_factors, users};

/// The user of a live session, with the account's factors.
pub(super) struct Owner {
    pub(super) user: User,
    pub(super) confirmed: Vec<TotpFactor>,
    pub(super) own: OwnPasskeys,
    /// False if the grant of the last owner would fall asleep. Always true for a change that puts no grant to sleep.
    pub(super) may_sleep: bool,
}

/// Effect of a change on the grant of its owner, if there is one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnGrant {
    Stays,
    MaySleep,
}

/// Changes the factors of an account. Locks the user's row; `decide` judges the change and adds the writes.
/// They are committed if `decide` returns `Changed`, and dropped otherwise.
pub(super) async fn change<E, T, R>(
    engine: &E,
    change: ChangeFactors<T>,
    grant: OwnGrant,
    decide: impl Fn(&mut Script, Owner, &ChangeFactors<T>) -> StoreResult<ChangedFactors<R>>
    + Send
    + Sync
    + 'static,
) -> StoreResult<ChangedFactors<R>>
where
    E: Executor,
    T: Send + Sync + 'static,
    R: Send + 'static,
{
    let mut script = Script::default();
    users::lock_by_id(&mut script, change.user_id);
    let live = sessions::find_live(&mut script, change.session_id, change.now);
    let confirmed = totp_factors::list_of(&mut script, change.user_id);
    let owned = passkeys::list_of(&mut script, change.user_id);
    let guard = (grant == OwnGrant::MaySleep).then(|| OperatorReads::find(&mut script, Effect::Loss));
    engine
        .transact(script, move |results| {
            let account = results.find(live, users::read_account)?;
            let Some(account) = account.filter(|account| account.user.id == change.user_id) else {
                return Ok(Decided::Return(ChangedFactors::NoSession));
            };
            let confirmed = totp_factors::factors(results, confirmed)?;
            let own = passkeys::owned(results, owned)?.into_own();
            let judged = guard.map(|guard| guard.judge_sleep(results, change.user_id)).transpose()?;
            let may_sleep = judged.is_none_or(|judged| judged.is_ok());
            let mut writes = Script::default();
            let of_caller = Owner { user: account.user, confirmed, own, may_sleep };
            Ok(match decide(&mut writes, of_caller, &change)? {
                changed @ ChangedFactors::Changed(_) => Decided::done(writes, changed),
                refused => Decided::Return(refused),
            })
        })
        .await
}

/// Adds the writes that all changes of factors share, except a change of name: invalidates the challenges, updates the
/// user's time of change, and writes audit event and mail.
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
    change(engine, rename, OwnGrant::Stays, |writes, owner, ChangeFactors { change: (id, name), .. }| {
        let Some(factor) = owner.confirmed.into_iter().find(|factor| factor.id == *id) else {
            return Ok(ChangedFactors::NotFound);
        };
        totp_factors::rename(writes, *id, name);
        Ok(ChangedFactors::Changed(TotpFactor { name: name.clone(), ..factor }))
    })
    .await
}

/// Removes a TOTP factor, unless it is the last second factor of an account with two-step sign-in.
pub(crate) async fn remove<E: Executor>(
    engine: &E,
    remove: ChangeFactors<FactorId>,
) -> StoreResult<ChangedFactors> {
    change(engine, remove, OwnGrant::Stays, |writes, Owner { user, confirmed, .. }, remove| {
        if confirmed.iter().all(|factor| factor.id != remove.change) {
            return Ok(ChangedFactors::NotFound);
        }
        let has_passkey = user.has_usable_passkey(remove.rp_id.as_ref());
        if user.has_two_step() && confirmed.len() == 1 && !has_passkey {
            return Ok(ChangedFactors::LastSecondFactor);
        }
        totp_factors::delete(writes, remove.change);
        record(writes, &user, remove, None)?;
        Ok(ChangedFactors::Changed(()))
    })
    .await
}

/// Turns two-step sign-in on for an account whose only second factor is a passkey.
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
            // Confirmed TOTP factors exist only while two-step sign-in is on, so here the passkey is the only factor.
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

/// Turns two-step sign-in off and removes TOTP factors and recovery codes. Sessions stay live.
pub(crate) async fn turn_two_step_off<E: Executor>(
    engine: &E,
    off: ChangeFactors<()>,
) -> StoreResult<ChangedFactors> {
    change(engine, off, OwnGrant::MaySleep, |writes, Owner { user, may_sleep, .. }, off| {
        if !user.has_two_step() {
            return Ok(ChangedFactors::Unchanged);
        }
        if !may_sleep {
            return Ok(ChangedFactors::LastOwner);
        }
        factors::remove_all_of(writes, user.id, off.now);
        record(writes, &user, off, Some(MailKind::TwoStepOff))?;
        Ok(ChangedFactors::Changed(()))
    })
    .await
}

pub(crate) async fn replace_recovery_codes<E: Executor>(
    engine: &E,
    replace: ChangeFactors<Vec<CodeMac>>,
) -> StoreResult<ChangedFactors> {
    change(engine, replace, OwnGrant::Stays, |writes, Owner { user, .. }, replace| {
        if !user.has_two_step() {
            return Ok(ChangedFactors::LastSecondFactor);
        }
        recovery_codes::replace(writes, user.id, &replace.change, replace.now);
        record(writes, &user, replace, Some(MailKind::RecoveryCodesMade))?;
        Ok(ChangedFactors::Changed(()))
    })
    .await
}

/// Removes all second factors of an account, with or without its passkeys, and ends its sessions.
pub(crate) async fn reset<E: Executor>(engine: &E, reset: ResetFactors) -> GuardedResult<bool> {
    let ResetFactors { user_id, with_passkeys, event, mail, protection, even_last_owner, now } = reset;
    let mut script = Script::default();
    users::lock_by_id(&mut script, user_id);
    let found = users::find_by_id(&mut script, user_id);
    let guard = OperatorReads::find(&mut script, Effect::of_sleep(even_last_owner));
    engine
        .transact(script, move |results| {
            let Some(account) = users::account(results, found)? else {
                return Ok(Decided::Return(Ok(false)));
            };
            if let Err(refusal) = guard.judge(results, protection, &[user_id])? {
                return Ok(Decided::Return(Err(refusal)));
            }
            let mut writes = Script::default();
            factors::invalidate_challenges(&mut writes, user_id, now);
            factors::remove_all_of(&mut writes, user_id, now);
            if with_passkeys {
                passkeys::delete_all_of(&mut writes, user_id);
            }
            users::touch(&mut writes, user_id, now);
            sessions::end_all_of(&mut writes, user_id, now);
            audit_events::record_of(&mut writes, event.clone(), user_id)?;
            outbox::notify(&mut writes, &account.user, mail.as_ref(), MailKind::FactorsReset, now);
            Ok(Decided::done(writes, Ok(true)))
        })
        .await
}
