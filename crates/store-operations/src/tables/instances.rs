//! Table `instances`: the running processes of the service.

use latchkey_domain::instance::{Instance, InstanceId};
use latchkey_domain::time::Timestamp;
use latchkey_store::{LISTED_INSTANCES, StoreResult};

use crate::bulk::{Table, columns};
use crate::form::{Cells, statements, stored_id};

pub const TABLE: Table =
    Table::new("instances", 1, columns! { id id, text version, int started_at, int seen_at });

stored_id!(InstanceId);

statements! {
    SAVE: change save(instance: &Instance)
        [instance.id, instance.version.as_str(), instance.started_at, instance.seen_at] = "
        INSERT INTO instances (id, version, started_at, seen_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at";
    DELETE: change delete(id: InstanceId) = "DELETE FROM instances WHERE id = $1";
    FORGET: change forget(seen_until: Timestamp) = "DELETE FROM instances WHERE seen_at <= $1";
    LIST: read list(since: Timestamp) [since, i64::from(LISTED_INSTANCES)] = "
        SELECT id, version, started_at, seen_at FROM instances WHERE seen_at > $1 ORDER BY started_at, id LIMIT $2";
}

pub(crate) fn read(cells: &mut Cells<'_>) -> StoreResult<Instance> {
    cells.of("instances");
    Ok(Instance {
        id: cells.id("id")?,
        version: cells.text("version")?.to_owned(),
        started_at: cells.time("started_at")?,
        seen_at: cells.time("seen_at")?,
    })
}
