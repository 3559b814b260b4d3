//! Rights of the service's role on the tables. Without one of them the service would start, and fail at the first request
//! that needs it.

use std::fmt::Write as _;

use latchkey_store::StoreResult;
use latchkey_store_operations::tables::TABLES;
use tokio::time::timeout;

use crate::errors::{EngineFault, Fallible, driver, unavailable};
use crate::migrations::LOOK;
use crate::store::Postgres;

/// Tables of this engine alone.
const OWN_TABLES: [&str; 3] = ["search_feed", "search_feed_state", "user_counts"];
/// Maximum number of tables that an error names.
const NAMED: usize = 5;

/// Error: the role of the service lacks rights.
#[derive(Debug, thiserror::Error)]
#[error(
    "the user {role} lacks rights on tables: {missing}. As their owner run `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES \
     IN SCHEMA {schema} TO {role}`"
)]
struct MissingRights {
    role: String,
    schema: String,
    missing: String,
}

impl Postgres {
    /// Fails if the role lacks the right to read, insert, update or delete in a table. Changes nothing. The migrations must
    /// be applied.
    pub async fn check_rights(&self) -> StoreResult<()> {
        let looked = timeout(LOOK, self.look_at_rights()).await;
        Ok(looked.unwrap_or_else(|_| Err(unavailable(EngineFault::Timeout).into()))?)
    }

    async fn look_at_rights(&self) -> Fallible<()> {
        let client = self.link().await?;
        let rows = client.query_typed(&missing_rights(), &[]).await?;
        let Some(first) = rows.first() else { return Ok(()) };
        let (role, schema) = (first.try_get(0)?, first.try_get(1)?);
        let mut missing = Vec::new();
        for row in rows.iter().take(NAMED) {
            let (table, rights): (&str, &str) = (row.try_get(2)?, row.try_get(3)?);
            missing.push(format!("{rights} on {table}"));
        }
        if rows.len() > NAMED {
            missing.push(format!("and some on {} more", rows.len() - NAMED));
        }
        Err(driver(MissingRights { role, schema, missing: missing.join("; ") }).into())
    }
}

/// Statement that lists the tables on which the role lacks rights, with the role and the schema in SQL's spelling.
fn missing_rights() -> String {
    let mut tables = String::new();
    for name in TABLES.iter().map(|table| table.name).chain(OWN_TABLES) {
        let comma = if tables.is_empty() { "" } else { ", " };
        let _ = write!(tables, "{comma}('{name}')"); // a string takes everything
    }
    // A table that is not there has no rights to lack (NULL); the statements that need it report it.
    format!(
        "SELECT quote_ident(current_user), (SELECT quote_ident(n.nspname) FROM pg_class AS c
            JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = min(to_regclass(t.name)::oid)), t.name, string_agg(r.name, ', ' ORDER BY r.place)
        FROM (VALUES {tables}) AS t (name)
            CROSS JOIN (VALUES (1, 'SELECT'), (2, 'INSERT'), (3, 'UPDATE'), (4, 'DELETE')) AS r (place, name)
        WHERE NOT has_table_privilege(to_regclass(t.name), r.name)
        GROUP BY t.name ORDER BY t.name"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use latchkey_store_suite::cluster::TestCluster;

    use super::*;
    use crate::options::PostgresOptions;

    #[tokio::test]
    async fn every_table_of_the_database_is_asked_for() {
        let database = TestCluster::shared().database();
        let store = Postgres::open(&PostgresOptions::new(database.url())).unwrap();
        let sql = "SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = current_schema() AND c.relkind = 'r' AND c.relname <> 'schema_migrations'";

        let found = store.link().await.unwrap().query_typed(sql, &[]).await.unwrap();

        let statement = missing_rights();
        let names: Vec<String> = found.iter().map(|row| row.get(0)).collect();
        let forgotten: Vec<_> =
            names.iter().filter(|name| !statement.contains(&format!("('{name}')"))).collect();
        assert!(names.len() > OWN_TABLES.len() && forgotten.is_empty(), "{forgotten:?} of {names:?}");
        store.check_rights().await.unwrap();
    }
}
