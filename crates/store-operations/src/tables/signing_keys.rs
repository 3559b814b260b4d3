//! The table `signing_keys`.

use latchkey_domain::ids::KeyId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{NewSigningKey, StoreResult, StoredSigningKey};

use crate::bulk::{Table, columns};
use crate::form::{Cells, Results, Script, Slot, statements, values};

pub const TABLE: Table = Table::new(
    "signing_keys",
    1,
    columns! { id id, text algorithm, bytes sealed, int created_at, int verify_until },
);

statements! {
    /// Keys in use, the current one first.
    LIST = "
    SELECT id, algorithm, sealed, created_at, verify_until FROM signing_keys
    WHERE verify_until IS NULL OR verify_until > $1
    ORDER BY verify_until IS NOT NULL, created_at DESC, id DESC LIMIT 1000";
    FIND_SIGNING = "
    SELECT id, algorithm, sealed, created_at, verify_until FROM signing_keys WHERE verify_until IS NULL";
    CREATE = "
    INSERT INTO signing_keys (id, algorithm, sealed, created_at, verify_until) VALUES ($1, $2, $3, $4, NULL)";
    /// Retires a key: it is accepted until `verify_until` and signs no more.
    RETIRE: change retire(id: KeyId, verify_until: Timestamp) =
        "UPDATE signing_keys SET verify_until = $2 WHERE id = $1 AND verify_until IS NULL";
}

/// Reads the current signing key.
pub(crate) fn find_signing(script: &mut Script) -> Slot {
    script.read(&FIND_SIGNING, Vec::new())
}

/// Key found by [`find_signing`].
pub(crate) fn signing(results: &Results<'_>, slot: Slot) -> StoreResult<Option<StoredSigningKey>> {
    results.find(slot, read_key)
}

/// Inserts the current signing key.
pub(crate) fn insert(script: &mut Script, key: &NewSigningKey) {
    let NewSigningKey { id, algorithm, sealed, created_at } = key;
    script.change(&CREATE, values![*id, algorithm.as_str(), sealed.as_slice(), *created_at]);
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
