//! Table `email_changes`: changes of address that are not completed, at most one per account.

use latchkey_domain::email_change::{EmailChange, EmailChangeId};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_store::StoreResult;

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Slot, statements, stored_id};

/// Query for a change of address. `$user` is an SQL expression for the account's id.
macro_rules! found {
    ($user:literal) => {
        concat!(
            "SELECT id, session_id, email, needs_current, new_proven, current_proven, expires_at FROM email_changes
            WHERE user_id = ",
            $user
        )
    };
}

stored_id!(EmailChangeId);

pub const TABLE: Table = Table::new(
    "email_changes",
    1,
    columns! {
        id user_id, id id, text email, text email_key, flag needs_current, flag new_proven, flag current_proven,
        int created_at, int expires_at, id session_id
    },
);

statements! {
    /// Inserts a change of address, or replaces an earlier one of the account.
    SAVE: change save(
        user_id: UserId, change: &EmailChange, now: Timestamp
    ) [
        user_id, change.id, change.new_email.as_typed(), change.new_email.key(), change.needs_current, now,
        change.expires_at, change.session_id
    ] = "
        INSERT INTO email_changes (user_id, id, email, email_key, needs_current, new_proven, current_proven,
            created_at, expires_at, session_id)
        VALUES ($1, $2, $3, $4, $5, FALSE, FALSE, $6, $7, $8)
        ON CONFLICT (user_id) DO UPDATE SET id = excluded.id, email = excluded.email, email_key = excluded.email_key,
            needs_current = excluded.needs_current, new_proven = FALSE, current_proven = FALSE,
            created_at = excluded.created_at, expires_at = excluded.expires_at, session_id = excluded.session_id";
    FIND: read find(user_id: UserId) = found!("$1");
    FIND_OF_SESSION: read find_of_session(session_id: SessionId) =
        found!("(SELECT s.user_id FROM sessions AS s WHERE s.id = $1)");
    SAVE_PROOFS: change save_proofs(user_id: UserId, change: &EmailChange)
        [user_id, change.is_new_proven, change.is_current_proven] =
        "UPDATE email_changes SET new_proven = $2, current_proven = $3 WHERE user_id = $1";
    DELETE_OF_EVERYBODY: change delete_of_everybody() = "DELETE FROM email_changes";
    DELETE_OF: change delete_of(user_id: UserId) = "DELETE FROM email_changes WHERE user_id = $1";
    /// Locks the row of a pending user (signed up, but not verified yet) who has the new address of another
    /// user's change. That change deletes the pending account.
    LOCK_PENDING_AT_NEW: read lock_pending_at_new(user_id: UserId) = "
        SELECT id FROM users WHERE pending AND banned_at IS NULL
            AND email_key = (SELECT c.email_key FROM email_changes AS c WHERE c.user_id = $1)
        FOR UPDATE";
    /// Reads a row if the new address of a user's change is not available: it belongs to another account that is
    /// banned or not pending, or is reserved for another account.
    FIND_TAKEN: read find_taken(user_id: UserId, now: Timestamp) = "
        SELECT 1 FROM email_changes AS c WHERE c.user_id = $1 AND (
            EXISTS (SELECT 1 FROM users AS u WHERE u.email_key = c.email_key AND u.id <> $1
                AND NOT (u.pending AND u.banned_at IS NULL))
            OR EXISTS (SELECT 1 FROM undo_tokens AS t WHERE t.email = c.email_key
                AND t.user_id <> $1 AND t.expires_at > $2))";
}

/// Decodes a change of address that is still valid at `now`.
pub(crate) fn live(results: &Results<'_>, slot: Slot, now: Timestamp) -> StoreResult<Option<EmailChange>> {
    Ok(results.find(slot, read)?.filter(|change| now < change.expires_at))
}

fn read(cells: &mut Cells<'_>) -> StoreResult<EmailChange> {
    Ok(EmailChange {
        id: cells.of("email_changes").id("id")?,
        session_id: cells.maybe_id("session_id")?,
        new_email: cells.email("email")?,
        needs_current: cells.flag("needs_current")?,
        is_new_proven: cells.flag("new_proven")?,
        is_current_proven: cells.flag("current_proven")?,
        expires_at: cells.time("expires_at")?,
    })
}
