//! Blocking access to a database. Each call uses its own connection and its own thread.

use std::pin::pin;
use std::thread;

use futures_util::stream::TryStreamExt;
use tokio_postgres::{Client, Error, NoTls};

use super::runtime;

const LIST_TABLES: &str = "
    SELECT quote_ident(relname) FROM pg_catalog.pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname";

/// Executes SQL statements.
pub(super) fn run(url: &str, sql: &str) {
    with_client(url, async |client| client.batch_execute(sql).await);
}

/// All rows of all tables in COPY's binary format.
pub(super) fn bytes(url: &str) -> Vec<u8> {
    with_client(url, async |client| {
        let mut bytes = Vec::new();
        for row in client.query(LIST_TABLES, &[]).await? {
            let table: String = row.get(0);
            let mut copied = pin!(client.copy_out(&format!("COPY {table} TO STDOUT (FORMAT binary)")).await?);
            while let Some(chunk) = copied.try_next().await? {
                bytes.extend_from_slice(&chunk);
            }
        }
        Ok(bytes)
    })
}

/// All rows of all tables, a line each with the name of its table, in an order that does not depend on when they were written.
pub(super) fn rows(url: &str) -> Vec<String> {
    with_client(url, async |client| {
        let mut lines = Vec::new();
        for row in client.query(LIST_TABLES, &[]).await? {
            let table: String = row.get(0);
            for row in client.query(&format!("SELECT t::text FROM {table} t ORDER BY 1"), &[]).await? {
                let row: String = row.get(0);
                lines.push(format!("{table}: {row}"));
            }
        }
        Ok(lines)
    })
}

/// Runs asynchronous work with a connection, on a new thread, because a runtime cannot be started within a test's
/// runtime.
fn with_client<T: Send>(url: &str, work: impl AsyncFnOnce(&Client) -> Result<T, Error> + Send) -> T {
    let worked = || -> Result<T, String> {
        runtime()?.block_on(async {
            let (client, connection) =
                tokio_postgres::connect(url, NoTls).await.map_err(|error| error.to_string())?;
            tokio::spawn(connection);
            work(&client).await.map_err(|error| {
                error.as_db_error().map_or_else(|| error.to_string(), |said| said.message().to_owned())
            })
        })
    };
    let outcome = thread::scope(|scope| scope.spawn(worked).join());
    let outcome = outcome.unwrap_or_else(|_| Err("the look into the database panicked".to_owned()));
    outcome.unwrap_or_else(|said| panic!("{said}"))
}
