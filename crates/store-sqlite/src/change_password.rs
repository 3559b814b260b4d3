//! A password change by its owner.

use latchkey_store::{ChangePassword, SignInOutcome};
use rusqlite::Connection;

use crate::errors::Fallible;
use crate::{accounts, audit, challenges, guards, sessions};

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
