//! Statements of the operations are valid in the schema of this engine.
#![allow(clippy::unwrap_used)]

use latchkey_store_operations::tables::all_statements;
use latchkey_store_suite::cluster::TestCluster;
use tokio_postgres::NoTls;

#[tokio::test]
async fn every_statement_fits_the_schema() {
    let database = TestCluster::shared().database();
    let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);

    let mut refused = Vec::new();
    for (table, name, sql) in all_statements() {
        if let Err(error) = client.prepare(sql.postgres()).await {
            let said = error.as_db_error().map(ToString::to_string);
            refused.push(format!("{table}::{name}: {}", said.unwrap_or(error.to_string())));
        }
    }

    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
