//! Table `operators`: grants by which accounts may sign in to the console.

use latchkey_domain::ids::UserId;
use latchkey_domain::operator::{Grant, Operator, Role};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{GrantOperator, StoreResult};

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Script, Slot, statements};
use crate::tables::sessions::console;
use crate::tables::users::{self, account_columns, account_tables};

/// Query for operators: their accounts and grants.
macro_rules! operators {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            account_columns!(),
            ", o.role, o.granted_by, o.granted_at, o.activated_at, o.activation_expires_at FROM operators AS o CROSS JOIN ",
            account_tables!(),
            " WHERE u.id = o.user_id",
            $condition
        )
    };
}

pub const TABLE: Table = Table::new(
    "operators",
    1,
    columns! {
        id user_id, text role, id granted_by, int granted_at, bytes activation_hash, int activation_expires_at,
        int activated_at
    },
);

statements! {
    /// Reads all operators. There is no limit: each row is a person whom somebody named.
    LIST: read list() = operators!(" ORDER BY o.granted_at, o.user_id");
    FIND: read find(user_id: UserId) = operators!(" AND o.user_id = $1");
    /// Locks the grants of all owners, so that none of two concurrent changes takes the other's owner for a remaining one.
    LOCK_OWNERS: read lock_owners() =
        "SELECT 1 FROM operators WHERE role = 'owner' ORDER BY user_id FOR UPDATE";
    /// Inserts a grant, or changes the role of an account that has one. Its activation stays.
    SAVE: change save_row(grant: &GrantOperator, activation: Option<(&TokenHash, Timestamp)>) [
        grant.user_id, grant.role.as_str(), grant.granted_by, grant.now, activation.map(|(hash, _)| hash),
        activation.map(|(_, expires_at)| expires_at)
    ] = "
        INSERT INTO operators (user_id, role, granted_by, granted_at, activation_hash, activation_expires_at, activated_at)
        VALUES ($1, $2, $3, $4, $5, $6, NULL)
        ON CONFLICT (user_id) DO UPDATE SET role = excluded.role, granted_by = excluded.granted_by,
            granted_at = excluded.granted_at, activation_hash = excluded.activation_hash,
            activation_expires_at = excluded.activation_expires_at";
    /// Stores a new activation link and puts the grant to sleep.
    RENEW: change renew_row(user_id: UserId, hash: &TokenHash, expires_at: Timestamp) = "
        UPDATE operators SET activation_hash = $2, activation_expires_at = $3, activated_at = NULL WHERE user_id = $1";
    /// Reads a row if the account's activation link has this token and is valid.
    FIND_ACTIVATION: read find_activation(user_id: UserId, hash: &TokenHash, now: Timestamp) =
        "SELECT 1 FROM operators WHERE user_id = $1 AND activation_hash = $2 AND activation_expires_at > $3";
    ACTIVATE: change activate(user_id: UserId, now: Timestamp) = "
        UPDATE operators SET activated_at = $2, activation_hash = NULL, activation_expires_at = NULL WHERE user_id = $1";
    /// Puts a grant, if the account has one, to sleep. An activation link that is not used yet stays valid.
    SLEEP: change put_to_sleep(user_id: UserId) = "UPDATE operators SET activated_at = NULL WHERE user_id = $1";
    DELETE: change delete_row(user_id: UserId) = "DELETE FROM operators WHERE user_id = $1";
}

/// Inserts a grant, or changes the role of an account that has one, and ends the console sessions of the earlier role.
pub(crate) fn save(writes: &mut Script, grant: &GrantOperator, activation: Option<(&TokenHash, Timestamp)>) {
    save_row(writes, grant, activation);
    console::end_all_of(writes, grant.user_id, grant.now);
}

/// Stores a new activation link, puts the grant to sleep, and ends the console sessions.
pub(crate) fn renew(writes: &mut Script, user_id: UserId, link: (&TokenHash, Timestamp), now: Timestamp) {
    renew_row(writes, user_id, link.0, link.1);
    console::end_all_of(writes, user_id, now);
}

/// Puts a grant, if the account has one, to sleep, and ends the console sessions. An activation link that is not used yet
/// stays valid.
pub(crate) fn sleep(writes: &mut Script, user_id: UserId, now: Timestamp) {
    put_to_sleep(writes, user_id);
    console::end_all_of(writes, user_id, now);
}

/// Deletes a grant, and ends the console sessions.
pub(crate) fn delete(writes: &mut Script, user_id: UserId, now: Timestamp) {
    delete_row(writes, user_id);
    console::end_all_of(writes, user_id, now);
}

pub(crate) fn operators(results: &Results<'_>, slot: Slot) -> StoreResult<Vec<Operator>> {
    results.list(slot, read_operator)
}

pub(crate) fn read_operator(cells: &mut Cells<'_>) -> StoreResult<Operator> {
    let user = users::read_account(cells)?.user;
    cells.of("operators");
    let grant = Grant {
        role: cells.parsed("role", Role::parse)?,
        granted_by: cells.maybe_id("granted_by")?,
        granted_at: cells.time("granted_at")?,
        activated_at: cells.maybe_time("activated_at")?,
        activation_expires_at: cells.maybe_time("activation_expires_at")?,
    };
    Ok(Operator { user, grant })
}
