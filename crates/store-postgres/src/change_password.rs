//! A password change by its owner.

use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::SessionId;
use latchkey_domain::limits::Take;
use latchkey_domain::time::Timestamp;
use latchkey_store::{
    BeginPasswordChange, ChangePassword, SignInCandidate, SignInGuard, SignInOutcome, StoreResult,
};

use crate::guards::{self, Hold, Watch};
use crate::limits::{Taken, Taking};
use crate::script::Script;
use crate::store::PostgresStore;
use crate::transact::Step;
use crate::values::values;
use crate::{accounts, audit, challenges, sessions};

/// Looks at the session, takes the tokens, looks at the guards.
pub(crate) async fn begin_password_change(
    store: &PostgresStore,
    session: SessionId,
    email: &EmailKey,
    takes: &[Take],
    guard: Option<&SignInGuard>,
    now: Timestamp,
) -> StoreResult<BeginPasswordChange> {
    let mut script = Script::default();
    let taking = Taking::add_for_session(&mut script, takes, session, email, now);
    let watch = Watch::over(&mut script, guard, Hold::Free);
    let live = script.add(sessions::FIND_LIVE, values![session, now]);
    let answers = store.repeat(&script).await?;
    let Some(account) = answers.find(live, accounts::read_row)? else {
        return Ok(BeginPasswordChange::NoSession);
    };
    if account.user.email.key() != email {
        return Ok(BeginPasswordChange::OtherEmail(account.user.email));
    }
    match taking.outcome(&answers, takes, now)? {
        Ok(Taken::Yes) => {}
        Ok(Taken::No) => return Ok(BeginPasswordChange::NoSession), // what was not taken is not begun
        Err(limited) => return Ok(BeginPasswordChange::Limited(limited)),
    }
    Ok(match watch.judge(&answers, guard, now)? {
        Some(limited) => BeginPasswordChange::Limited(limited),
        None => BeginPasswordChange::Candidate(Box::new(SignInCandidate {
            user: account.user,
            password: account.password,
        })),
    })
}

/// Changes the password where the one that was checked is still the account's.
pub(crate) async fn change_password(
    store: &PostgresStore,
    change: &ChangePassword,
) -> StoreResult<SignInOutcome> {
    let ChangePassword { user_id, checked, password, keep, guard, event, now } = change;
    let (user_id, now) = (*user_id, *now);
    let mut reads = Script::default();
    let watch = Watch::over(&mut reads, guard.as_ref(), Hold::Locked);
    accounts::lock_by_id(&mut reads, user_id);
    let found = accounts::find_by_id(&mut reads, user_id);
    store
        .transact(&reads, |answers| {
            if let Some(limited) = watch.judge(answers, guard.as_ref(), now)? {
                return Ok(Step::Answer(SignInOutcome::Limited(limited)));
            }
            let is_as_checked = accounts::account(answers, found)?.is_some_and(|account| {
                !account.user.is_banned() && account.password.as_ref() == Some(checked)
            });
            if !is_as_checked {
                return Ok(Step::Answer(SignInOutcome::Gone));
            }
            let mut writes = Script::default();
            if let Some(guard) = guard {
                guards::forgive(&mut writes, guard);
            }
            accounts::save_password(&mut writes, user_id, password, now);
            accounts::touch(&mut writes, user_id, now);
            challenges::end_all_of(&mut writes, user_id, now);
            sessions::end_others(&mut writes, user_id, *keep, now);
            audit::record_in(&mut writes, event.clone(), user_id, *keep)?;
            let user = accounts::find_by_id(&mut writes, user_id);
            Ok(Step::write(writes, move |answers| {
                Ok(SignInOutcome::Opened(Box::new(accounts::user_that_is(answers, user)?)))
            }))
        })
        .await
}
