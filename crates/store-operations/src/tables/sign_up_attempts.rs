//! Table `sign_up_attempts`: the last sign-up for the address of an account.

use latchkey_domain::email::EmailKey;
use latchkey_domain::email_verification::SIGN_UP_COOKIE_LIFETIME;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{SIGN_UP_PURGE_BATCH, StoreResult};

use crate::bulk::{Column, Table};
use crate::form::{Results, Script, Slot, Value, statements, values};
use crate::tables::users::key_or_any;

pub const TABLE: Table = Table::new(
    "sign_up_attempts",
    1,
    &[Column::id("user_id"), Column::text("hash"), Column::bytes("browser_hash"), Column::int("created_at")],
);

statements! {
    SAVE_ATTEMPT = "
    INSERT INTO sign_up_attempts (user_id, hash, created_at) VALUES ($1, $2, $3)
    ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, created_at = excluded.created_at";
    REMEMBER_BROWSER = "
    INSERT INTO sign_up_attempts (user_id, browser_hash, created_at) VALUES ($1, $2, $3)
    ON CONFLICT (user_id) DO UPDATE SET browser_hash = excluded.browser_hash, created_at = excluded.created_at";
    FIND_BROWSER = "
    SELECT 1 FROM sign_up_attempts AS a JOIN link_tokens AS t ON t.user_id = a.user_id
    WHERE t.hash = $1 AND a.browser_hash = $2 AND a.created_at > $3";
    /// Hash of an address; without such a user, any other one.
    FIND_BY_KEY_OR_ANY = concat!("SELECT user_id, hash FROM sign_up_attempts WHERE user_id = ", key_or_any!());
    FIND_BY_SESSION = "
    SELECT a.user_id, a.hash FROM sessions AS s JOIN sign_up_attempts AS a ON a.user_id = s.user_id WHERE s.id = $1";
    FIND_BY_TOKEN = "
    SELECT a.user_id, a.hash FROM link_tokens AS t JOIN sign_up_attempts AS a ON a.user_id = t.user_id
    WHERE t.hash = $1";
    FORGET_INCOMPARABLE = "
    UPDATE sign_up_attempts SET hash = NULL WHERE user_id = $1 AND substr(hash, 1, length($2)) <> $2";
    DELETE_ATTEMPT = "DELETE FROM sign_up_attempts WHERE user_id = $1";
    LOCK_STALE = "
    SELECT user_id FROM sign_up_attempts WHERE created_at <= $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED";
}

/// Upserts the hash of the last sign-up.
pub(crate) fn save(writes: &mut Script, id: UserId, password: Option<&PasswordHash>, now: Timestamp) {
    writes.change(&SAVE_ATTEMPT, values![id, password.map(PasswordHash::as_str), now]);
}

/// Stores the browser of a pending account's last sign-up, or that it had none.
pub(crate) fn remember_browser(
    writes: &mut Script,
    user_id: UserId,
    browser: Option<&TokenHash>,
    now: Timestamp,
) {
    let browser = Value::Bytes(browser.map(|hash| hash.as_bytes().to_vec()));
    writes.change(&REMEMBER_BROWSER, values![user_id, browser, now]);
}

/// Checks whether the account of a link was signed up for in this browser.
pub(crate) fn find_browser(reads: &mut Script, link: TokenHash, browser: &TokenHash, now: Timestamp) -> Slot {
    reads.read(&FIND_BROWSER, values![&link, browser, now.minus(SIGN_UP_COOKIE_LIFETIME)])
}

/// Reads the hash of an address at constant cost, whether or not it has an account.
pub(crate) fn find_by_key_at_constant_cost(reads: &mut Script, email: &EmailKey) -> Slot {
    reads.read(&FIND_BY_KEY_OR_ANY, values![email])
}

/// Reads the hash of a session's owner.
pub(crate) fn find_by_session(reads: &mut Script, id: SessionId) -> Slot {
    reads.read(&FIND_BY_SESSION, values![id])
}

/// Reads the hash of the user of a link or reset token.
pub(crate) fn find_by_token(reads: &mut Script, token: TokenHash) -> Slot {
    reads.read(&FIND_BY_TOKEN, values![&token])
}

/// The hash, if it is this user's.
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

/// Deletes the hash unless it is comparable with the account's new password.
pub(crate) fn forget_incomparable(writes: &mut Script, id: UserId, password: &PasswordHash) {
    writes.change(&FORGET_INCOMPARABLE, values![id, password.head()]);
}

pub(crate) fn delete(writes: &mut Script, id: UserId) {
    writes.change(&DELETE_ATTEMPT, values![id]);
}

/// Locks a batch of rows not later than `until`, oldest first, and skips locked ones.
pub(crate) fn lock_stale(reads: &mut Script, until: Timestamp) -> Slot {
    reads.read(&LOCK_STALE, values![until, SIGN_UP_PURGE_BATCH])
}
