//! Sign-in with a password: what stands before the check, and what comes of it.

use latchkey_domain::email::EmailKey;
use latchkey_domain::limits::{Limited, Take};
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    BeginSignIn, FailedSignIn, SignIn, SignInCandidate, SignInGuard, SignInOutcome, StoreResult,
};

use crate::guards::{self, Hold, Watch};
use crate::limits::Taking;
use crate::script::Script;
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::{accounts, audit, sessions};

/// Takes the tokens, looks at the guards, finds the account.
pub(crate) async fn begin(
    store: &PostgresStore,
    email: &EmailKey,
    takes: &[Take],
    guard: Option<&SignInGuard>,
    now: Timestamp,
) -> StoreResult<BeginSignIn> {
    let mut script = Script::default();
    let taking = Taking::add(&mut script, takes, now);
    let watch = Watch::over(&mut script, guard, Hold::Free);
    let found = accounts::find_by_key_evenly(&mut script, email);
    let answers = if takes.is_empty() { store.read(&script).await? } else { store.repeat(&script).await? };
    if let Err(limited) = taking.outcome(&answers, takes, now)? {
        return Ok(BeginSignIn::Limited(limited));
    }
    if let Some(limited) = watch.judge(&answers, guard, now)? {
        return Ok(BeginSignIn::Limited(limited));
    }
    let account = accounts::account_of_key(&answers, found, email)?;
    let candidate = account.map(|account| SignInCandidate { user: account.user, password: account.password });
    Ok(BeginSignIn::Candidate(candidate.map(Box::new)))
}

/// Opens a session where the password that was checked is still the account's. In the plain case that is one round
/// trip; in any other the rules are asked.
pub(crate) async fn open_after_password(
    store: &PostgresStore,
    sign_in: &SignIn,
) -> StoreResult<SignInOutcome> {
    let SignIn { user_id, checked, rehashed, session, guard, event } = sign_in;
    let (user_id, now) = (*user_id, session.created_at);
    if rehashed.is_none()
        && let Some(opened) = open_plainly(store, sign_in).await?
    {
        return Ok(opened);
    }
    let mut reads = Script::default();
    let watch = Watch::over(&mut reads, guard.as_ref(), Hold::Locked);
    accounts::lock_by_id(&mut reads, user_id);
    let found = accounts::find_by_id(&mut reads, user_id);
    store
        .transact(&reads, |answers| {
            if let Some(limited) = watch.judge(answers, guard.as_ref(), now)? {
                return Ok(Step::Answer(SignInOutcome::Limited(limited)));
            }
            let is_as_checked = |account: &accounts::Account| {
                !account.user.is_banned() && account.password.as_ref() == Some(checked)
            };
            let Some(account) = accounts::account(answers, found)?.filter(is_as_checked) else {
                return Ok(Step::Answer(SignInOutcome::Gone));
            };
            let mut writes = Script::default();
            if let Some(guard) = guard {
                guards::forgive(&mut writes, guard);
                guards::know_client(&mut writes, guard, now);
            }
            if let Some(rehashed) = rehashed {
                accounts::save_password(&mut writes, user_id, rehashed, now);
            }
            if account.user.is_pending {
                sessions::pend_no_more(&mut writes, user_id, now);
            }
            sessions::open(&mut writes, user_id, session);
            audit::record_in(&mut writes, event.clone(), user_id, session.id)?;
            let user = accounts::find_by_id(&mut writes, user_id);
            Ok(Step::write(writes, move |answers| {
                Ok(SignInOutcome::Opened(Box::new(accounts::user_that_is(answers, user)?)))
            }))
        })
        .await
}

/// The plain case, in one round trip: nothing is decided but whether it is the plain case, and everything after the session
/// is written where the session was. Failures and user are locked like everywhere, so guesses in parallel gain nothing.
async fn open_plainly(store: &PostgresStore, sign_in: &SignIn) -> StoreResult<Option<SignInOutcome>> {
    let SignIn { user_id, checked, session, guard, event, .. } = sign_in;
    let (user_id, now, guard) = (*user_id, session.created_at, guard.as_ref());
    let mut script = Script::default();
    Watch::over(&mut script, guard, Hold::Locked);
    accounts::lock_by_id(&mut script, user_id);
    let opened = sessions::open_plainly(&mut script, user_id, session, checked, guard);
    if let Some(guard) = guard {
        guards::forgive_if_opened(&mut script, guard, session.id);
        guards::know_client_if_opened(&mut script, guard, now, session.id);
    }
    audit::record_if_opened(&mut script, event.clone(), user_id, session.id)?;
    let user = accounts::find_by_id(&mut script, user_id);
    let answers = store.write(&script).await?;
    if answers.affected(opened) == 0 {
        return Ok(None);
    }
    Ok(Some(SignInOutcome::Opened(Box::new(accounts::user_that_is(&answers, user)?))))
}

/// Counts a failure, even where the limit was used up before it: it was a guess.
pub(crate) async fn fail(store: &PostgresStore, failed: &FailedSignIn) -> StoreResult<Option<Limited>> {
    let FailedSignIn { guard, event, now } = failed;
    let mut reads = Script::default();
    let Some(guard) = guard else {
        audit::record(&mut reads, event.clone())?;
        store.write(&reads).await?;
        return Ok(None);
    };
    let watch = Watch::over(&mut reads, Some(guard), Hold::Locked);
    store
        .transact(&reads, |answers| {
            let limited = watch.judge(answers, Some(guard), *now)?;
            let mut writes = Script::default();
            watch.count_failure(answers, &mut writes, guard, *now)?;
            audit::record(&mut writes, event.clone())?;
            Ok(Step::done(writes, limited))
        })
        .await
}
