//! Table `hash_keys`: sealed keys that hashes from elsewhere need.

use latchkey_domain::ids::HashKeyId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{HashKey, MAX_HASH_KEYS, StoreResult};

use crate::bulk::{Table, columns};
use crate::form::{Cells, statements, stored_id};

pub const TABLE: Table = Table::new("hash_keys", 1, columns! { id id, bytes sealed, int created_at });

stored_id!(HashKeyId);

statements! {
    SAVE: change save(key: &HashKey, now: Timestamp) [key.id, key.sealed.as_slice(), now] = "
    INSERT INTO hash_keys (id, sealed, created_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING";
    FIND: read find(id: HashKeyId) = "SELECT id, sealed FROM hash_keys WHERE id = $1";
    LIST: read list() [i64::from(MAX_HASH_KEYS)] = "SELECT id, sealed FROM hash_keys ORDER BY id LIMIT $1";
}

pub(crate) fn read(cells: &mut Cells<'_>) -> StoreResult<HashKey> {
    cells.of("hash_keys");
    Ok(HashKey { id: cells.id("id")?, sealed: cells.bytes("sealed")? })
}
