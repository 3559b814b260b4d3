//! Tables `kept_keys` and `secret_rotations`: keys that outlive a replacement of the server secret, and the replacement
//! that is not finished.

use latchkey_domain::time::Timestamp;

use crate::bulk::{Table, columns};
use crate::form::statements;

pub const TABLE: Table = Table::new("kept_keys", 1, columns! { text label, bytes sealed });
pub const ROTATIONS: Table =
    Table::new("secret_rotations", 1, columns! { int id, text fingerprint, int started_at });

statements! {
    KEEP: change keep(label: &str, sealed: &[u8]) =
        "INSERT INTO kept_keys (label, sealed) VALUES ($1, $2) ON CONFLICT (label) DO NOTHING";
    FIND_UNFINISHED: read find_unfinished() = "SELECT fingerprint FROM secret_rotations WHERE id = 1";
    BEGIN: change begin(secrets: &str, now: Timestamp) = "
    INSERT INTO secret_rotations (id, fingerprint, started_at) VALUES (1, $1, $2) ON CONFLICT (id) DO NOTHING";
    FINISH: change finish() = "DELETE FROM secret_rotations WHERE id = 1";
}
