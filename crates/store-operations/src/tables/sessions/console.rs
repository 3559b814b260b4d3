//! Statements of console sessions.

use latchkey_domain::ids::UserId;
use latchkey_domain::operator::Role;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{FoundConsoleSession, StoreResult};

use crate::form::{Cells, statements};
use crate::is_live;
use crate::tables::users::{self, account_columns, account_tables};

statements! {
    /// Reads the live console session of a token, in the browser that it was opened in, with the role of its operator. The
    /// grant must be active, and the account able to use it (`may_be_operator`).
    FIND_CONSOLE_SESSION: read find(token: &TokenHash, browser: &TokenHash, now: Timestamp) = concat!(
        "SELECT ",
        account_columns!(),
        ", ",
        super::session_columns!(),
        ", u.locale, o.role FROM sessions AS s CROSS JOIN operators AS o CROSS JOIN ",
        account_tables!(),
        " WHERE s.family_hash = $1 AND s.kind = 'console' AND s.browser_hash = $2 AND u.id = s.user_id
            AND o.user_id = s.user_id AND o.activated_at IS NOT NULL AND u.banned_at IS NULL AND u.deletes_at IS NULL
            AND u.email_verified AND ",
        is_live!("$3")
    );
    /// Ends the console sessions of a user.
    END_ALL_CONSOLE: change end_all_of(user_id: UserId, now: Timestamp) = concat!(
        "UPDATE sessions AS s SET ended_at = $2 WHERE s.user_id = $1 AND s.kind = 'console' AND ",
        is_live!("$2")
    );
}

pub(crate) fn read_found(cells: &mut Cells<'_>) -> StoreResult<FoundConsoleSession> {
    let live = super::read_live(cells)?;
    let locale = users::read_locale(cells)?;
    let role = cells.of("operators").parsed("role", Role::parse)?;
    Ok(FoundConsoleSession { live, locale, role })
}
