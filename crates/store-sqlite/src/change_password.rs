//! A password change by its owner.

use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::SessionId;
use latchkey_domain::limits::Take;
use latchkey_domain::time::Timestamp;
use latchkey_store::{BeginPasswordChange, ChangePassword, SignInCandidate, SignInGuard, SignInOutcome};
use rusqlite::{Connection, params};

use crate::errors::Fallible;
use crate::limits::take_all;
use crate::rows::Id;
use crate::statements::find;
use crate::{accounts, audit, challenges, guards, sessions};

/// Looks at the session, takes the tokens, looks at the guards.
pub(crate) fn begin_password_change(
    conn: &Connection,
    session: SessionId,
    email: &EmailKey,
    takes: &[Take],
    guard: Option<&SignInGuard>,
    now: Timestamp,
) -> Fallible<BeginPasswordChange> {
    let account =
        find(conn, sessions::FIND_LIVE, params![session.blob(), now.as_millis()], accounts::read_row)?;
    let Some(account) = account else { return Ok(BeginPasswordChange::NoSession) };
    if account.user.email.key() != email {
        return Ok(BeginPasswordChange::OtherEmail(account.user.email));
    }
    if let Err(limited) = take_all(conn, takes, now)? {
        return Ok(BeginPasswordChange::Limited(limited));
    }
    let limited = guard.map_or(Ok(None), |guard| guards::judge(conn, guard, now))?;
    Ok(match limited {
        Some(limited) => BeginPasswordChange::Limited(limited),
        None => BeginPasswordChange::Candidate(Box::new(SignInCandidate {
            user: account.user,
            password: account.password,
        })),
    })
}

/// Changes the password where the one that was checked is still the account's.
pub(crate) fn change_password(conn: &Connection, change: ChangePassword) -> Fallible<SignInOutcome> {
    let ChangePassword { user_id, checked, password, keep, guard, event, now } = change;
    if let Some(guard) = &guard
        && let Some(limited) = guards::judge(conn, guard, now)?
    {
        return Ok(SignInOutcome::Limited(limited));
    }
    let account = accounts::find_by_id(conn, user_id)?;
    let is_as_checked = account.is_some_and(|account| {
        !account.user.is_banned() && account.password.is_some_and(|password| password == checked)
    });
    if !is_as_checked {
        return Ok(SignInOutcome::Gone);
    }
    accounts::save_password(conn, user_id, &password, now)?;
    accounts::touch(conn, user_id, now)?;
    sessions::end_others(conn, user_id, keep, now)?;
    challenges::end_all_of(conn, user_id, now)?;
    if let Some(guard) = &guard {
        guards::forgive(conn, guard)?;
    }
    audit::record_in(conn, event, user_id, keep)?;
    Ok(SignInOutcome::Opened(Box::new(accounts::user_that_is(conn, user_id)?)))
}
