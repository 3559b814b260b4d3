//! Table `signing_keys`: keys that sign and verify the service's tokens.

use latchkey_domain::ids::KeyId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{NewSigningKey, StoreResult, StoredSigningKey};

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Slot, statements, stored_id};

stored_id!(KeyId);

pub const TABLE: Table = Table::new(
    "signing_keys",
    1,
    columns! { id id, text algorithm, bytes sealed, int created_at, int verify_until },
);

statements! {
    /// Reads the keys that may verify a token, the current signing key first.
    LIST = "
    SELECT id, algorithm, sealed, created_at, verify_until FROM signing_keys
    WHERE verify_until IS NULL OR verify_until > $1
    ORDER BY verify_until IS NOT NULL, created_at DESC, id DESC LIMIT 1000";
    FIND_SIGNING: read find_signing() = "
    SELECT id, algorithm, sealed, created_at, verify_until FROM signing_keys WHERE verify_until IS NULL";
    /// Inserts a key as the current signing key.
    CREATE: change insert(key: &NewSigningKey)
        [key.id, key.algorithm.as_str(), key.sealed.as_slice(), key.created_at] = "
    INSERT INTO signing_keys (id, algorithm, sealed, created_at, verify_until) VALUES ($1, $2, $3, $4, NULL)";
    /// Retires a key. It signs no more, and its signatures are accepted until `verify_until`.
    RETIRE: change retire(id: KeyId, verify_until: Timestamp) =
        "UPDATE signing_keys SET verify_until = $2 WHERE id = $1 AND verify_until IS NULL";
    /// Retires all keys at once: none of them signs or verifies any more.
    EXPIRE_ALL: change expire_all(now: Timestamp) =
        "UPDATE signing_keys SET verify_until = $1 WHERE verify_until IS NULL OR verify_until > $1";
}

pub(crate) fn signing(results: &Results<'_>, slot: Slot) -> StoreResult<Option<StoredSigningKey>> {
    results.find(slot, read_key)
}

pub fn read_key(cells: &mut Cells<'_>) -> StoreResult<StoredSigningKey> {
    cells.of("signing_keys");
    Ok(StoredSigningKey {
        id: cells.id("id")?,
        algorithm: cells.text("algorithm")?.to_owned(),
        sealed: cells.bytes("sealed")?,
        created_at: cells.time("created_at")?,
        verify_until: cells.maybe_time("verify_until")?,
    })
}
