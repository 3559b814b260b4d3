//! Reader of another application's PostgreSQL database, for imports: the rows of a table as JSON objects, with the rows of
//! tables beside it. The connection is read-only, and its statements have a time limit.

use std::fmt::Write as _;
use std::pin::pin;

use futures_util::stream::TryStreamExt;
use latchkey_store::{ForeignRow, NoTable, SideTable, StoreResult};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::errors::{EngineFault, Fallible, driver, unavailable};
use crate::options::{Address, PostgresOptions};
use crate::pool::tls_for;

/// Number of rows that are read ahead.
const AHEAD: usize = 1_000;
/// Settings of the session. The limit is that of the whole reading, which ends with the import.
const READ_ONLY: &str = "
    SET default_transaction_read_only = on; SET statement_timeout = '6h'; SET lock_timeout = '5s';
    SET idle_in_transaction_session_timeout = '10min'; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Reads the rows of a table, given as SQL, in the order of its column `id`. Side tables that do not exist are left out.
pub async fn foreign_rows(
    options: &PostgresOptions,
    table: &str,
    sides: Vec<SideTable>,
) -> StoreResult<Receiver<ForeignRow>> {
    let (client, sql) = open(options, table, sides).await?;
    let (sender, rows) = channel(AHEAD);
    let Some(sql) = sql else {
        let _ = sender.send(Err(NoTable(table.to_owned()).into())).await; // there is room for it
        return Ok(rows);
    };
    tokio::spawn(async move {
        if let Err(fault) = read(&client, &sql, &sender).await {
            // Nobody waits for it if the import ended early.
            let _ = sender.send(Err(latchkey_store::StoreError::from(fault).into())).await;
        }
    });
    Ok(rows)
}

/// Connects, and returns the query of the rows; `None` if the table does not exist.
async fn open(
    options: &PostgresOptions,
    table: &str,
    sides: Vec<SideTable>,
) -> Fallible<(Client, Option<String>)> {
    let address = Address::parse(options).map_err(driver)?;
    let tls = tls_for(&address).map_err(driver)?;
    let connecting = tokio::time::timeout(options.connect_timeout, address.config.connect(tls)).await;
    let (client, connection) = connecting.map_err(|_| unavailable(EngineFault::Timeout))??;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "the connection to the source of an import ended");
        }
    });
    client.batch_execute(READ_ONLY).await?;
    if !has_table(&client, table).await? {
        return Ok((client, None));
    }
    let mut lists = String::new();
    for side in sides {
        if has_table(&client, side.table).await? {
            let SideTable { field, table, owner } = side;
            // Writing into a string cannot fail.
            let _ = write!(
                lists,
                ", (SELECT json_agg(row_to_json(s)) FROM {table} AS s WHERE s.\"{owner}\" = u.id) AS \"{field}\""
            );
        }
    }
    let sql =
        format!("SELECT row_to_json(t)::text FROM (SELECT u.*{lists} FROM {table} AS u ORDER BY u.id) AS t");
    Ok((client, Some(sql)))
}

async fn has_table(client: &Client, table: &str) -> Fallible<bool> {
    let rows = client.query_typed("SELECT to_regclass($1) IS NOT NULL", &[(&table, Type::TEXT)]).await?;
    Ok(rows.first().is_some_and(|row| row.get(0)))
}

async fn read(client: &Client, sql: &str, rows: &Sender<ForeignRow>) -> Fallible<()> {
    let no_values: [(&str, Type); 0] = [];
    let mut stream = pin!(client.query_typed_raw(sql, no_values).await?);
    while let Some(row) = stream.try_next().await? {
        if rows.send(Ok(row.get(0))).await.is_err() {
            return Ok(()); // the import ended early
        }
    }
    Ok(())
}
