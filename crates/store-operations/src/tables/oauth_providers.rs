//! Table `oauth_providers`: identity providers configured by an admin.

use latchkey_store::{FoundProvider, StoreResult};

use crate::bulk::{Table, columns};
use crate::form::{Cells, statements};

pub const TABLE: Table = Table::new(
    "oauth_providers",
    1,
    columns! {
        text key, text kind, text config, bytes sealed, int created_at, int updated_at
    },
);

statements! {
    LIST = "
    SELECT key, kind, config, sealed, created_at, updated_at FROM oauth_providers ORDER BY key LIMIT 1000";
    CREATE = "
    INSERT INTO oauth_providers (key, kind, config, sealed, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (key) DO NOTHING";
    UPDATE = "
    UPDATE oauth_providers SET config = $3, sealed = $4, updated_at = $5
    WHERE key = $1 AND kind = $2 AND updated_at = $6";
    DELETE = "DELETE FROM oauth_providers WHERE key = $1 AND kind = $2";
}

pub(crate) fn read_provider(cells: &mut Cells<'_>) -> StoreResult<FoundProvider> {
    cells.of("oauth_providers");
    Ok(FoundProvider {
        key: cells.text("key")?.to_owned(),
        kind: cells.text("kind")?.to_owned(),
        config: cells.object("config")?,
        sealed: cells.bytes("sealed")?,
        created_at: cells.time("created_at")?,
        updated_at: cells.time("updated_at")?,
    })
}
