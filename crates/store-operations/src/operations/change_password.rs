//! Change of the password by the user, and the first password of an account without one.

use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::limits::{Limited, Take};
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::password::PasswordHash;
use latchkey_domain::sign_in::is_as_compared;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;
use latchkey_store::{
    BeginPasswordChange, ChangePassword, LimitedResult, PasswordChange, PasswordSet, SetPassword,
    SignInGuard, StoreResult,
};

use super::guards::{self, Hold, Watch, take_and_read};
use super::{request_code, sign_in};
use crate::form::{Decided, Executor, Results, Script, Taken, values};
use crate::tables::{audit_events, outbox, sessions, sign_up_attempts, users};

/// Prepares a password change: checks the session, takes tokens from the rate limits, checks the guess limits, and
/// reads the account.
pub(crate) async fn begin<E: Executor>(
    engine: &E,
    session: SessionId,
    email: &EmailKey,
    takes: &[Take],
    guard: Option<&SignInGuard>,
    now: Timestamp,
) -> LimitedResult<BeginPasswordChange> {
    let mut script = Script::default();
    let limit = (!takes.is_empty()).then(|| script.take_for(takes, session, email, now));
    let watch = Watch::over(&mut script, guard, Hold::Free);
    let live = script.read(&sessions::FIND_LIVE, values![session, now]);
    let last_sign_up = sign_up_attempts::find_by_session(&mut script, session);
    let (email, guard) = (email.clone(), guard.cloned());
    let finish = move |results: &Results<'_>| {
        let Some(account) = results.find(live, users::read_account)? else {
            return Ok(Ok(BeginPasswordChange::NoSession));
        };
        if *account.user.email.key() != email {
            return Ok(Ok(BeginPasswordChange::OtherEmail(account.user.email)));
        }
        match limit.map_or(Ok(Taken::Yes), |slot| results.taken(slot))? {
            Taken::Yes => {}
            // The session ended, or its user got another address, before the tokens were taken.
            Taken::No => return Ok(Ok(BeginPasswordChange::NoSession)),
            Taken::Limited(limited) => return Ok(Err(limited)),
        }
        if let Some(limited) = watch.judge(results, guard.as_ref(), now)? {
            return Ok(Err(limited));
        }
        let candidate = sign_in::candidate(results, account, last_sign_up)?;
        Ok(Ok(BeginPasswordChange::Candidate(Box::new(candidate))))
    };
    take_and_read(engine, script, finish).await
}

/// Changes the password, if the password that the user entered for confirmation is still current.
pub(crate) async fn change<E: Executor>(engine: &E, change: ChangePassword) -> LimitedResult<PasswordChange> {
    let mut reads = Script::default();
    let watch = Watch::over(&mut reads, change.guard.as_ref(), Hold::Locked);
    users::lock_by_id(&mut reads, change.user_id);
    let found = users::find_by_id(&mut reads, change.user_id);
    engine
        .transact(reads, move |results| {
            if let Some(limited) = watch.judge(results, change.guard.as_ref(), change.now)? {
                return Ok(Decided::Return(Err(limited)));
            }
            match users::account(results, found)? {
                Some(account)
                    if is_as_compared(&account.user, account.password.as_ref(), &change.checked) =>
                {
                    save(&change, &account.user)
                }
                _ => Ok(Decided::Return(Ok(PasswordChange::Gone))),
            }
        })
        .await
}

fn save(change: &ChangePassword, owner: &User) -> StoreResult<Decided<Result<PasswordChange, Limited>>> {
    let ChangePassword { user_id, password, keep, page_token, guard, event, mail, now, .. } = change;
    let (user_id, now) = (*user_id, *now);
    let mut writes = Script::default();
    if let Some(guard) = guard {
        guards::forgive(&mut writes, guard);
    }
    users::change_password(&mut writes, user_id, password, now);
    replaced(&mut writes, user_id, password, (*keep, page_token.as_ref()), now);
    audit_events::record_in(&mut writes, event.clone(), user_id, *keep)?;
    outbox::notify(&mut writes, owner, mail.as_ref(), MailKind::PasswordChanged, now);
    Ok(Decided::done(writes, Ok(PasswordChange::Changed)))
}

/// Sets the password of an account that has none.
pub(crate) async fn set<E: Executor>(engine: &E, set: SetPassword) -> StoreResult<PasswordSet> {
    let SetPassword { user_id, password, keep, page_token, event, mail, now } = set;
    let mut reads = Script::default();
    users::lock_by_id(&mut reads, user_id);
    let live = sessions::find_live(&mut reads, keep, now);
    engine
        .transact(reads, move |results| {
            let account = results.find(live, users::read_account)?;
            let Some(user) = account.map(|account| account.user).filter(|user| user.id == user_id) else {
                return Ok(Decided::Return(PasswordSet::NoSession));
            };
            if user.has_password {
                return Ok(Decided::Return(PasswordSet::HasPassword));
            }
            let mut writes = Script::default();
            users::save_password(&mut writes, user_id, &password, user.email_verified, now);
            replaced(&mut writes, user_id, &password, (keep, page_token.as_ref()), now);
            audit_events::record_in(&mut writes, event.clone(), user_id, keep)?;
            outbox::notify(&mut writes, &user, mail.as_ref(), MailKind::PasswordSet, now);
            Ok(Decided::done(writes, PasswordSet::Set))
        })
        .await
}

/// Adds the writes that follow every change of a password in a session: outstanding codes and tokens are
/// deleted, and the user's other sessions end. The session itself gets a new token, if it is a page session.
fn replaced(
    writes: &mut Script,
    user_id: UserId,
    password: &PasswordHash,
    (keep, page_token): (SessionId, Option<&TokenHash>),
    now: Timestamp,
) {
    sign_up_attempts::forget_incomparable(writes, user_id, password);
    users::touch(writes, user_id, now);
    request_code::end_all_of(writes, user_id, now);
    sessions::end_others(writes, user_id, keep, now);
    if let Some(token) = page_token {
        sessions::pages::renew(writes, user_id, keep, token);
    }
}
