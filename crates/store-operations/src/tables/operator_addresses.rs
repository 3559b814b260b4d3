//! Table `operator_addresses`: grants for addresses that have no account yet.

use latchkey_domain::email::EmailKey;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::{AddressGrant, AddressGrantId, Grant, Role};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{GrantAddress, StoreResult};

use crate::bulk::{Table, columns};
use crate::form::{Cells, statements, stored_id};
use crate::tables::users::{account_columns, account_tables};

/// Columns of a grant, in the order of [`read`].
macro_rules! grant_columns {
    () => {
        "id, email, role, granted_by, granted_at, activation_expires_at"
    };
}
/// Expression for the key of the address that a token `$1`, valid at `$2`, was made for.
macro_rules! address_of_token {
    () => {
        "(SELECT a.email_key FROM operator_addresses AS a WHERE a.activation_hash = $1 AND a.activation_expires_at > $2)"
    };
}

pub const TABLE: Table = Table::new(
    "operator_addresses",
    1,
    columns! {
        id id, text email_key, text email, text role, id granted_by, int granted_at, bytes activation_hash,
        int activation_expires_at
    },
);

stored_id!(AddressGrantId);

statements! {
    /// Reads all grants. There is no limit: each row is a person whom somebody named.
    LIST: read list() = concat!(
        "SELECT ", grant_columns!(), " FROM operator_addresses ORDER BY granted_at, id"
    );
    /// Inserts a grant, or replaces that of the same address.
    SAVE: change save(grant: &GrantAddress) [
        grant.id, grant.email.key().as_str(), grant.email.as_typed(), grant.role.as_str(), grant.granted_by, grant.now,
        &grant.activation.hash, grant.activation.expires_at
    ] = "
        INSERT INTO operator_addresses (id, email_key, email, role, granted_by, granted_at, activation_hash,
            activation_expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (email_key) DO UPDATE SET id = excluded.id, email = excluded.email, role = excluded.role,
            granted_by = excluded.granted_by, granted_at = excluded.granted_at,
            activation_hash = excluded.activation_hash, activation_expires_at = excluded.activation_expires_at";
    FIND_OF_TOKEN: read find_of_token(token: &TokenHash, now: Timestamp) = concat!(
        "SELECT ", grant_columns!(), " FROM operator_addresses WHERE activation_hash = $1 AND activation_expires_at > $2"
    );
    /// Locks and reads the grant of an address.
    LOCK: read lock(email: &EmailKey) = concat!(
        "SELECT ", grant_columns!(), " FROM operator_addresses WHERE email_key = $1 FOR UPDATE"
    );
    /// Locks the account of the address that a token was made for.
    LOCK_ACCOUNT: read lock_account(token: &TokenHash, now: Timestamp) =
        concat!("SELECT 1 FROM users WHERE email_key = ", address_of_token!(), " FOR NO KEY UPDATE");
    FIND_ACCOUNT: read find_account(token: &TokenHash, now: Timestamp) = concat!(
        "SELECT ", account_columns!(), " FROM ", account_tables!(), " WHERE u.email_key = ", address_of_token!()
    );
    /// Lists the accounts that have such an address by now, with the roles. A sign-up that was never verified is none.
    LIST_ACCOUNTS: read list_accounts() = "
        SELECT u.id, a.role FROM operator_addresses AS a JOIN users AS u ON u.email_key = a.email_key WHERE NOT u.pending
        ORDER BY u.id";
    DELETE: change delete(email: &EmailKey) = "DELETE FROM operator_addresses WHERE email_key = $1";
}

pub(crate) fn read(cells: &mut Cells<'_>) -> StoreResult<AddressGrant> {
    cells.of("operator_addresses");
    Ok(AddressGrant {
        id: cells.id("id")?,
        email: cells.email("email")?,
        grant: Grant {
            role: cells.parsed("role", Role::parse)?,
            granted_by: cells.maybe_id("granted_by")?,
            granted_at: cells.time("granted_at")?,
            activated_at: None,
            activation_expires_at: cells.maybe_time("activation_expires_at")?,
        },
    })
}

/// Reads an account that has such an address, and the role.
pub(crate) fn read_account(cells: &mut Cells<'_>) -> StoreResult<(UserId, Role)> {
    let id = cells.of("users").id("id")?;
    Ok((id, cells.of("operator_addresses").parsed("role", Role::parse)?))
}
