//! Table `recovery_codes`: the unused recovery codes of an account, as MACs. A used code is deleted.

use latchkey_domain::codes::CodeMac;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::StoreResult;

use crate::bulk::{Table, columns};
use crate::form::{Results, Script, Slot, statements, values};

pub const TABLE: Table = Table::new("recovery_codes", 2, columns! { id user_id, bytes mac, int created_at });

statements! {
    INSERT = "INSERT INTO recovery_codes (user_id, mac, created_at) VALUES ($1, $2, $3)";
    COUNT_OF: read count_of(user_id: UserId) = "SELECT count(*) FROM recovery_codes WHERE user_id = $1";
    COUNT_OF_SESSION: read count_of_session(session_id: SessionId) =
        "SELECT count(*) FROM recovery_codes WHERE user_id = (SELECT user_id FROM sessions WHERE id = $1)";
    /// Reads a row if the code is among the unused ones of a challenge's account.
    FIND_OF_CHALLENGE: read find_of_challenge(challenge: TokenHash, mac: &CodeMac) [&challenge, mac] =
        "SELECT 1 FROM recovery_codes WHERE user_id = (SELECT user_id FROM challenges WHERE hash = $1) AND mac = $2";
    DELETE: change delete(user_id: UserId, mac: &CodeMac) =
        "DELETE FROM recovery_codes WHERE user_id = $1 AND mac = $2";
    DELETE_MADE_SINCE: change delete_made_since(user_id: UserId, since: Timestamp) =
        "DELETE FROM recovery_codes WHERE user_id = $1 AND created_at >= $2";
    DELETE_ALL_OF: change delete_all_of(user_id: UserId) = "DELETE FROM recovery_codes WHERE user_id = $1";
}

/// Replaces the recovery codes of a user.
pub(crate) fn replace(writes: &mut Script, user_id: UserId, codes: &[CodeMac], now: Timestamp) {
    delete_all_of(writes, user_id);
    for mac in codes {
        writes.change(&INSERT, values![user_id, mac, now]);
    }
}

/// Decodes the number of unused recovery codes.
pub(crate) fn number(results: &Results<'_>, slot: Slot) -> StoreResult<u32> {
    Ok(results.find(slot, |cells| cells.of("recovery_codes").count("count"))?.unwrap_or_default())
}
