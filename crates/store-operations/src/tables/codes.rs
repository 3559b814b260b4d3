//! The tables `codes` and `code_budgets`: six-digit codes, and the attempts that an address has in a time window.

use latchkey_domain::code_window::CodeWindow;
use latchkey_domain::codes::{CodeMac, Purpose, StoredCode};
use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_store::StoreResult;

use crate::form::{Cells, Results, Script, Slot, statements, values};

statements! {
    SAVE_CODE = "
        INSERT INTO codes (email_key, purpose, lane, user_id, mac, long, attempts, created_at, expires_at)
        VALUES ($1, $2, 1, $3, $4, FALSE, 0, $5, $6)
        ON CONFLICT (email_key, purpose, lane) DO UPDATE SET user_id = excluded.user_id, mac = excluded.mac, attempts = 0,
            created_at = excluded.created_at, expires_at = excluded.expires_at";
    DELETE_CODE = "DELETE FROM codes WHERE email_key = $1 AND purpose = $2";
    DELETE_CODES_OF = "DELETE FROM codes WHERE user_id = $1 AND purpose = $2";
    DELETE_ALL_CODES_OF = "DELETE FROM codes WHERE user_id = $1";
    LOCK_CODE = "
        SELECT user_id, mac, attempts, expires_at FROM codes WHERE email_key = $1 AND purpose = $2 FOR NO KEY UPDATE";
    COUNT_ON_CODE = "
        UPDATE codes SET attempts = least(attempts + 1, 1000000) WHERE email_key = $1 AND purpose = $2";
    LOCK_WINDOW = "
        SELECT attempts, since FROM code_budgets WHERE email_key = $1 AND purpose = $2 FOR NO KEY UPDATE";
    CREATE_WINDOW = "
        INSERT INTO code_budgets (email_key, purpose, lane, attempts, since, day_attempts, day_since, ends_at)
        VALUES ($1, $2, 1, $3, $4, 0, 0, $5)";
    SAVE_WINDOW = "
        UPDATE code_budgets SET attempts = $3, since = $4, ends_at = $5 WHERE email_key = $1 AND purpose = $2";
}

/// Writes the code of an address and purpose in place of the one before. Without a user it is a decoy.
pub(crate) fn save_code(
    writes: &mut Script,
    key: &str,
    purpose: Purpose,
    user_id: Option<UserId>,
    mac: &CodeMac,
    expires_at: Timestamp,
    now: Timestamp,
) {
    writes.change(&SAVE_CODE, values![key, purpose, user_id, mac, now, expires_at]);
}

/// Ends the code of an address and purpose.
pub(crate) fn delete_code(writes: &mut Script, key: &str, purpose: Purpose) {
    writes.change(&DELETE_CODE, values![key, purpose]);
}

/// Ends the codes of a user and purpose.
pub(crate) fn delete_codes_of(writes: &mut Script, user_id: UserId, purpose: Purpose) {
    writes.change(&DELETE_CODES_OF, values![user_id, purpose]);
}

/// Ends all codes of a user.
pub(crate) fn delete_all_codes_of(writes: &mut Script, user_id: UserId) {
    writes.change(&DELETE_ALL_CODES_OF, values![user_id]);
}

/// Locks and reads the code of an address and purpose.
pub(crate) fn lock_code(reads: &mut Script, email: &EmailKey, purpose: Purpose) -> Slot {
    reads.read(&LOCK_CODE, values![email, purpose])
}

/// The code that was found, and its user. A decoy has none.
pub(crate) fn code(results: &Results<'_>, slot: Slot) -> StoreResult<Option<(Option<UserId>, StoredCode)>> {
    results.find(slot, |cells| {
        let owner = cells.of("codes").maybe_id("user_id")?;
        let code = StoredCode {
            mac: CodeMac::from_bytes(cells.array("mac")?),
            attempts: cells.count("attempts")?,
            expires_at: cells.time("expires_at")?,
        };
        Ok((owner, code))
    })
}

/// Counts an attempt on the code of an address and purpose, if there is one.
pub(crate) fn count_on_code(writes: &mut Script, email: &EmailKey, purpose: Purpose) {
    writes.change(&COUNT_ON_CODE, values![email, purpose]);
}

/// Locks and reads the time window of an address and purpose.
pub(crate) fn lock_window(reads: &mut Script, email: &EmailKey, purpose: Purpose) -> Slot {
    reads.read(&LOCK_WINDOW, values![email, purpose])
}

/// The time window that was found.
pub(crate) fn window(results: &Results<'_>, slot: Slot) -> StoreResult<Option<CodeWindow>> {
    results.find(slot, read_window)
}

/// Writes the first time window of an address and purpose. If another transaction did so meanwhile, the unique key
/// breaks, and its attempt is not lost.
pub(crate) fn create_window(writes: &mut Script, email: &EmailKey, purpose: Purpose, window: &CodeWindow) {
    let values = values![email, purpose, window.attempts, window.since, window.ends_at()];
    writes.change(&CREATE_WINDOW, values);
}

/// Writes a time window that was found.
pub(crate) fn save_window(writes: &mut Script, email: &EmailKey, purpose: Purpose, window: &CodeWindow) {
    let values = values![email, purpose, window.attempts, window.since, window.ends_at()];
    writes.change(&SAVE_WINDOW, values);
}

fn read_window(cells: &mut Cells<'_>) -> StoreResult<CodeWindow> {
    cells.of("code_budgets");
    Ok(CodeWindow { attempts: cells.count("attempts")?, since: cells.time("since")? })
}
