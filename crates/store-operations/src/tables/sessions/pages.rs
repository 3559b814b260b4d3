//! Statements of page sessions.

use latchkey_domain::ids::{PasskeyId, SessionId, UserId};
use latchkey_domain::page_session::ReplacedPageSession;
use latchkey_domain::session::NewSession;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{FoundPageSession, PageSessionStepUp, PageSessionUse, StoreResult};

use super::ends::end_own_and_record;
use super::lock;
use crate::form::{Cells, Script, statements, values};
use crate::is_live;
use crate::tables::users::{self, account_columns, account_tables};

statements! {
    /// Reads the live page session of a token, in the browser that it was opened in.
    FIND_PAGE_SESSION: read find(token: &TokenHash, browser: &TokenHash, now: Timestamp) = concat!(
        "SELECT ",
        account_columns!(),
        ", ",
        super::session_columns!(),
        ", u.locale FROM sessions AS s CROSS JOIN ",
        account_tables!(),
        " WHERE s.family_hash = $1 AND s.kind = 'pages' AND s.browser_hash = $2 AND u.id = s.user_id
            AND u.banned_at IS NULL AND ",
        is_live!("$3")
    );
    STORE_USE: change store_use(used: &PageSessionUse) [
        used.id, used.at, used.idle_expires_at, used.client.address.to_string(), used.client.user_agent.clone()
    ] = concat!(
        "UPDATE sessions AS s SET last_seen_at = $2, idle_expires_at = $3, address = $4, user_agent = $5
        WHERE s.id = $1 AND s.last_seen_at < $2 AND ",
        is_live!("$2")
    );
    /// Stores a reauthentication of a page session or console session. A passkey that was shown replaces the one of the sign-in.
    STEP_UP = "
        UPDATE sessions SET family_hash = $3, current_hash = $3, amr = $4, level = $5, auth_time = $6,
            passkey_id = coalesce($7, passkey_id)
        WHERE id = $2 AND user_id = $1 AND kind <> 'app' AND ended_at IS NULL";
    RENEW_TOKEN: change renew(user_id: UserId, id: SessionId, token: &TokenHash) = "
        UPDATE sessions SET family_hash = $3, current_hash = $3
        WHERE id = $2 AND user_id = $1 AND kind = 'pages' AND ended_at IS NULL";
    /// Ends a page session or console session of a user who signs in again in its browser.
    END_REPLACED = concat!(
        "UPDATE sessions AS s SET ended_at = $2 WHERE s.user_id = $1 AND s.id = $3 AND s.kind <> 'app' AND ",
        is_live!("$2")
    );
    /// Turns the app sessions that were opened from the page session `$2` into those of the page session `$3`.
    PASS_ON_APPS = "UPDATE sessions SET opened_from = $3 WHERE user_id = $1 AND opened_from = $2 AND ended_at IS NULL";
}

pub(crate) fn read_found(cells: &mut Cells<'_>) -> StoreResult<FoundPageSession> {
    let live = super::read_live(cells)?;
    Ok(FoundPageSession { live, locale: users::read_locale(cells)? })
}

/// Ends the page session that `opened` replaces, if there is one. If it is the same user's, the new session takes over
/// the app sessions that were opened from it.
pub(super) fn replace(writes: &mut Script, user_id: UserId, opened: &NewSession) -> StoreResult<()> {
    let Some(replaced) = opened.kind.pages().and_then(|pages| pages.replaces.as_ref()) else { return Ok(()) };
    let ReplacedPageSession { id, user_id: owner, event } = &**replaced;
    lock(writes, *id);
    if *owner == user_id {
        writes.change(&END_REPLACED, values![user_id, opened.created_at, *id]);
        writes.change(&PASS_ON_APPS, values![user_id, *id, opened.id]);
    } else {
        end_own_and_record(writes, *owner, *id, event.clone(), opened.created_at)?;
    }
    Ok(())
}

pub(crate) fn step_up(
    writes: &mut Script,
    user_id: UserId,
    id: SessionId,
    step_up: &PageSessionStepUp,
    passkey: Option<PasskeyId>,
) {
    let PageSessionStepUp { token, methods, level, at } = step_up;
    let level = i64::from(level.as_number());
    writes.change(&STEP_UP, values![user_id, id, token, methods.to_stored(), level, *at, passkey]);
}
