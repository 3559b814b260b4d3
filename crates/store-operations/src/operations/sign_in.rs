//! Sign-in with a password: lookup before the password check, and the session or the failure after it.

use latchkey_domain::challenge::SecondFactorPolicy;
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::UserId;
use latchkey_domain::limits::{Limited, Take};
use latchkey_domain::session::SessionKind;
use latchkey_domain::sign_in::is_as_compared;
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    Entered, Entry, FailedSignIn, LimitedResult, SignIn, SignInCandidate, SignInGuard, SignInOutcome,
    SignInSubject, StoreResult,
};

use super::entry::{self, Opening, Way};
use super::guards::{self, Hold, Watch, take_and_read};
use super::takes;
use crate::form::{Decided, Executor, Repeat, Results, Script, Slot};
use crate::tables::users::{self, Account};
use crate::tables::{audit_events, profiles, sessions, sign_up_attempts, undo_tokens};

/// Prepares a sign-in: takes tokens from the rate limits, checks the guess limits, and returns the account.
pub(crate) async fn begin<E: Executor>(
    engine: &E,
    email: &EmailKey,
    takes: &[Take],
    guard: Option<&SignInGuard>,
    now: Timestamp,
) -> LimitedResult<SignInSubject> {
    let mut script = Script::default();
    let limit = takes::take(&mut script, takes, now);
    let watch = Watch::over(&mut script, guard, Hold::Free);
    let found = users::find_by_key_at_constant_cost(&mut script, email);
    let last_sign_up = sign_up_attempts::find_by_key_at_constant_cost(&mut script, email);
    let reserved = undo_tokens::find_sign_up(&mut script, email, now);
    let (email, guard) = (email.clone(), guard.cloned());
    let finish = move |results: &Results<'_>| {
        if let Some(limited) = takes::limited(results, limit)? {
            return Ok(Err(limited));
        }
        if let Some(limited) = watch.judge(results, guard.as_ref(), now)? {
            return Ok(Err(limited));
        }
        let reserved = undo_tokens::sign_up(results, reserved)?;
        Ok(Ok(match users::account_of_key(results, found, &email)? {
            Some(account) => SignInSubject::Account(Box::new(candidate(results, account, last_sign_up)?)),
            None => reserved.map_or(SignInSubject::Unknown, SignInSubject::Reserved),
        }))
    };
    take_and_read(engine, script, finish).await
}

/// Combines an account with the password hash of its last sign-up. An entered password is compared with both.
pub(crate) fn candidate(
    results: &Results<'_>,
    account: Account,
    last_sign_up: Slot,
) -> StoreResult<SignInCandidate> {
    let last_sign_up = sign_up_attempts::last_sign_up(results, last_sign_up, account.user.id)?;
    Ok(SignInCandidate { user: account.user, password: account.password, last_sign_up })
}

/// Opens a session, or writes a challenge, if the checked password is still current. The common case takes
/// one round trip, by a statement with conditions. If one of them does not hold, a transaction decides by the
/// rules of `latchkey_domain`.
pub(crate) async fn open_after_password<E: Executor>(
    engine: &E,
    sign_in: SignIn,
) -> LimitedResult<SignInOutcome> {
    if !E::HAS_ONE_WRITER
        && sign_in.rehashed.is_none()
        && sign_in.entry.rules.policy != SecondFactorPolicy::Required
        && !has_rules_of_its_own(&sign_in)
        && let Some(opened) = open_plainly(engine, &sign_in).await?
    {
        return Ok(Ok(opened));
    }
    let mut reads = Script::default();
    let watch = Watch::over(&mut reads, sign_in.guard.as_ref(), Hold::Locked);
    users::lock_by_id(&mut reads, sign_in.user_id);
    let found = users::find_by_id(&mut reads, sign_in.user_id);
    engine
        .transact(reads, move |results| {
            if let Some(limited) =
                watch.judge(results, sign_in.guard.as_ref(), sign_in.entry.session.created_at)?
            {
                return Ok(Decided::Return(Err(limited)));
            }
            match users::account(results, found)? {
                Some(account)
                    if is_as_compared(&account.user, account.password.as_ref(), &sign_in.checked) =>
                {
                    open(&sign_in, &account)
                }
                _ => Ok(Decided::Return(Ok(SignInOutcome::Gone))),
            }
        })
        .await
}

/// True if the sign-in ends another session, possibly of another user, or opens a console session, which depends on the
/// grant and on all factors of the account.
fn has_rules_of_its_own(sign_in: &SignIn) -> bool {
    let kind = &sign_in.entry.session.kind;
    kind.word() == SessionKind::Console || kind.pages().is_some_and(|pages| pages.replaces.is_some())
}

fn open(sign_in: &SignIn, account: &Account) -> StoreResult<Decided<Result<SignInOutcome, Limited>>> {
    let SignIn { user_id, rehashed, entry, guard, event, .. } = sign_in;
    let (user_id, now) = (*user_id, entry.session.created_at);
    let way = Way::of(Some(&account.user), entry);
    let mut writes = Script::default();
    if let Some(rehashed) = rehashed {
        users::change_password(&mut writes, user_id, rehashed, now);
        sign_up_attempts::forget_incomparable(&mut writes, user_id, rehashed);
    }
    if way == Way::Session {
        if let Some(guard) = guard {
            guards::forgive(&mut writes, guard);
            guards::know_client(&mut writes, guard, now);
        }
        if account.user.is_pending {
            pend_no_more(&mut writes, user_id, now);
        }
    }
    entry::open(&mut writes, user_id, entry, way, None)?;
    if way == Way::Session {
        audit_events::record_in(&mut writes, event.clone(), user_id, entry.session.id)?;
    }
    let opening = Opening::find(&mut writes, user_id, entry, way);
    Ok(Decided::write(writes, move |results| Ok(Ok(SignInOutcome::Entered(opening.entered(results)?)))))
}

/// Ends the pending state of an account, because a session is opened for it.
pub(crate) fn pend_no_more(writes: &mut Script, user_id: UserId, now: Timestamp) {
    users::pend_no_more(writes, user_id, now);
    sign_up_attempts::delete(writes, user_id);
    profiles::show_or_hide(writes, user_id);
}

/// Opens a session in one round trip, or returns `None` if a condition does not hold. The conditions are part of the
/// statement that inserts the session, and every later write depends on that session. The failure counters and the
/// user are locked, as they are when a transaction decides, so that concurrent guesses count too.
async fn open_plainly<E: Executor>(engine: &E, sign_in: &SignIn) -> StoreResult<Option<SignInOutcome>> {
    let SignIn { user_id, checked, entry: Entry { session, .. }, guard, event, .. } = sign_in;
    let (user_id, now, guard) = (*user_id, session.created_at, guard.as_ref());
    let mut script = Script::default();
    Watch::over(&mut script, guard, Hold::Locked);
    users::lock_by_id(&mut script, user_id);
    let written = sessions::open_plainly(&mut script, user_id, session, checked, guard);
    if let Some(guard) = guard {
        guards::forgive_and_know_if_opened(&mut script, guard, now, session.id);
    }
    audit_events::record_if_opened(&mut script, event.clone(), user_id, session.id)?;
    let user = users::find_by_id(&mut script, user_id);
    let finish = move |results: &Results<'_>| {
        if results.affected(written)? == 0 {
            return Ok(None);
        }
        let user = users::user_that_is(results, user)?;
        Ok(Some(SignInOutcome::Entered(Entered::Session(Box::new(user)))))
    };
    engine.write(script, Repeat::Never, finish).await
}

/// Counts a failed password check, even if concurrent checks have reached the limit meanwhile.
pub(crate) async fn fail<E: Executor>(engine: &E, failed: FailedSignIn) -> LimitedResult<()> {
    let FailedSignIn { guard, event, now } = failed;
    let mut script = Script::default();
    let Some(guard) = guard else {
        audit_events::record(&mut script, event)?;
        return engine.write(script, Repeat::Never, |_| Ok(Ok(()))).await;
    };
    let watch = Watch::over(&mut script, Some(&guard), Hold::Locked);
    engine
        .transact(script, move |results| {
            let limited = watch.judge(results, Some(&guard), now)?;
            let mut writes = Script::default();
            watch.count_failure(results, &mut writes, &guard, now)?;
            audit_events::record(&mut writes, event.clone())?;
            Ok(Decided::done(writes, limited.map_or(Ok(()), Err)))
        })
        .await
}
