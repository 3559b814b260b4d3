//! Table `sign_up_attempts`: the last sign-up with the email address of an account, as password hash and as hash of
//! the browser's sign-up cookie.

use latchkey_domain::email::EmailKey;
use latchkey_domain::email_verification::SIGN_UP_COOKIE_LIFETIME;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{ACCOUNT_PURGE_BATCH, StoreResult};

use crate::bulk::{Table, columns};
use crate::form::{Results, Slot, Value, statements};
use crate::tables::users::key_or_any;

pub const TABLE: Table =
    Table::new("sign_up_attempts", 1, columns! { id user_id, text hash, bytes browser_hash, int created_at });

statements! {
    SAVE_ATTEMPT: change save(id: UserId, password: Option<&PasswordHash>, now: Timestamp)
        [id, password.map(PasswordHash::as_str), now] = "
    INSERT INTO sign_up_attempts (user_id, hash, created_at) VALUES ($1, $2, $3)
    ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, created_at = excluded.created_at";
    /// Stores the hash of the sign-up cookie: of a pending account that of its last sign-up, or null if that had no
    /// cookie.
    REMEMBER_BROWSER: change remember_browser(user_id: UserId, browser: Option<&TokenHash>, now: Timestamp)
        [user_id, Value::Bytes(browser.map(|hash| hash.as_bytes().to_vec())), now] = "
    INSERT INTO sign_up_attempts (user_id, browser_hash, created_at) VALUES ($1, $2, $3)
    ON CONFLICT (user_id) DO UPDATE SET browser_hash = excluded.browser_hash, created_at = excluded.created_at";
    /// Reads a row if the last sign-up for the account of a link came from this browser, which has the sign-up
    /// cookie.
    FIND_BROWSER: read find_browser(link: TokenHash, browser: &TokenHash, now: Timestamp)
        [&link, browser, now.minus(SIGN_UP_COOKIE_LIFETIME)] = "
    SELECT 1 FROM sign_up_attempts AS a JOIN link_tokens AS t ON t.user_id = a.user_id
    WHERE t.hash = $1 AND a.browser_hash = $2 AND a.created_at > $3";
    /// Reads the password hash of the last sign-up with an email address. The cost is the same if there is no such
    /// user.
    FIND_BY_KEY_OR_ANY: read find_by_key_at_constant_cost(email: &EmailKey) =
        concat!("SELECT user_id, hash FROM sign_up_attempts WHERE user_id = ", key_or_any!());
    /// Reads the password hash of the last sign-up for a session's user.
    FIND_BY_SESSION: read find_by_session(id: SessionId) = "
    SELECT a.user_id, a.hash FROM sessions AS s JOIN sign_up_attempts AS a ON a.user_id = s.user_id WHERE s.id = $1";
    /// Reads the password hash of the last sign-up for the user of a link or reset token.
    FIND_BY_TOKEN: read find_by_token(token: TokenHash) [&token] = "
    SELECT a.user_id, a.hash FROM link_tokens AS t JOIN sign_up_attempts AS a ON a.user_id = t.user_id
    WHERE t.hash = $1";
    /// Deletes the password hash of the last sign-up for an account, unless it can be compared with the account's new
    /// password hash, because algorithm, parameters and salt are the same.
    FORGET_INCOMPARABLE: change forget_incomparable(id: UserId, password: &PasswordHash) [id, password.head()] = "
    UPDATE sign_up_attempts SET hash = NULL WHERE user_id = $1 AND substr(hash, 1, length($2)) <> $2";
    DELETE_ATTEMPT: change delete(id: UserId) = "DELETE FROM sign_up_attempts WHERE user_id = $1";
    /// Locks a batch of rows of sign-ups made at or before `until`, oldest first. Rows locked by other transactions
    /// are skipped.
    LOCK_STALE: read lock_stale(until: Timestamp) [until, ACCOUNT_PURGE_BATCH] = "
    SELECT user_id FROM sign_up_attempts WHERE created_at <= $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED";
}

/// Decodes the password hash of the last sign-up; `None` if there is none or it belongs to another user.
pub(crate) fn last_sign_up(
    results: &Results<'_>,
    slot: Slot,
    id: UserId,
) -> StoreResult<Option<PasswordHash>> {
    let found = results.find(slot, |cells| {
        Ok((cells.of("sign_up_attempts").id::<UserId>("user_id")?, cells.maybe_text("hash")?))
    })?;
    Ok(found.filter(|(owner, _)| *owner == id).and_then(|(_, hash)| hash).map(PasswordHash::from_phc))
}
