//! Password reset: presenting a reset token, and using it up for a new password.

use latchkey_domain::codes::Purpose;
use latchkey_domain::mailbox_proof::Proof;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_domain::user::User;
use latchkey_store::{BeginReset, LinkStatus, ResetPassword, ResetSubject};
use rusqlite::Connection;

use crate::accounts::{self, Account};
use crate::errors::Fallible;
use crate::links::{find_token, use_token};
use crate::proof::prove;
use crate::{audit, challenges};

/// Whether a reset token is good, and for whom.
pub(crate) fn begin(conn: &Connection, token: TokenHash, now: Timestamp) -> Fallible<BeginReset> {
    Ok(find_good(conn, token, now)?.map_or(BeginReset::Refused, |account| {
        BeginReset::Good(ResetSubject { user_id: account.user.id, email: account.user.email })
    }))
}

/// Sets the password and uses the token up.
pub(crate) fn reset_password(conn: &Connection, reset: ResetPassword) -> Fallible<Option<User>> {
    let ResetPassword { token, password, event, now } = reset;
    let Some(account) = find_good(conn, token, now)? else {
        return Ok(None);
    };
    let id = account.user.id;
    use_token(conn, token, now)?;
    challenges::end_all_of(conn, id, now)?;
    prove(conn, &account, Proof::Reset, now)?;
    accounts::save_password(conn, id, &password, now)?;
    audit::record_of(conn, event, id)?;
    accounts::user_that_is(conn, id).map(Some)
}

/// The account of a reset token that is good now, of a link or of an exchange.
fn find_good(conn: &Connection, token: TokenHash, now: Timestamp) -> Fallible<Option<Account>> {
    let found = find_token(conn, token, Purpose::ResetPassword)?;
    Ok(found.filter(|token| token.facts.status(now) == LinkStatus::Good).map(|token| token.account))
}
