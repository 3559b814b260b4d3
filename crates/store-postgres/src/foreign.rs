//! Reader of another application's PostgreSQL database, for imports: the rows of a table as JSON objects, with the rows of
//! tables beside it. The connection is read-only, and its statements have a time limit.

use std::fmt::Write as _;
use std::pin::pin;

use futures_util::stream::TryStreamExt;
use latchkey_store::{CHUNKS_AHEAD, Chunk, MOST_SIDE_ROWS, NoColumn, NoTable, SideTable, Unreadable};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::errors::{EngineFault, Fallible, Fault, ServerFault, driver, unavailable};
use crate::options::{Address, PostgresOptions};
use crate::pool::tls_for;

/// Settings of the session. The limit is that of the whole reading, which ends with the import.
const READ_ONLY: &str = "
    SET default_transaction_read_only = on; SET statement_timeout = '6h'; SET lock_timeout = '5s';
    SET idle_in_transaction_session_timeout = '10min'; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Reads the rows of a table, given as SQL, in the order of its column `id`. Side tables that do not exist are left out. No
/// format has one in PostgreSQL that is beside several tables of accounts.
pub async fn foreign_rows(
    options: &PostgresOptions,
    table: &str,
    sides: Vec<SideTable>,
) -> Result<Receiver<Chunk>, Unreadable> {
    let client = connect(options).await.map_err(unreadable)?;
    let sql = query_of(&client, table, sides).await.map_err(unreadable)?;
    let (sender, chunks) = channel(CHUNKS_AHEAD);
    let sql = match sql {
        Ok(sql) => sql,
        Err(missing) => {
            let _ = sender.send(Chunk::default().ended_by(missing)).await; // there is room for it
            return Ok(chunks);
        }
    };
    tokio::spawn(async move {
        let mut chunk = Chunk::default();
        let ended = match read(&client, &sql, &mut chunk, &sender).await {
            Ok(()) => chunk,
            Err(fault) => chunk.ended_by(unreadable(fault).into()),
        };
        let _ = sender.send(ended).await; // nobody waits for it if the import ended early
    });
    Ok(chunks)
}

/// Says why the source cannot be read. The advice in a message of the server is for the service's own database.
fn unreadable(fault: Fault) -> Unreadable {
    let error = fault.error;
    match ServerFault::of_store(&error) {
        Some(said) => Unreadable(format!("{} (SQLSTATE {})", said.message, said.code.code())),
        None => error.into(),
    }
}

async fn connect(options: &PostgresOptions) -> Fallible<Client> {
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
    Ok(client)
}

/// Returns the query of the rows, or what is missing for it.
async fn query_of(
    client: &Client,
    table: &str,
    sides: Vec<SideTable>,
) -> Fallible<Result<String, Box<dyn std::error::Error + Send + Sync>>> {
    let columns = columns_of(client, table).await?;
    if columns.is_empty() {
        return Ok(Err(NoTable(table.to_owned()).into()));
    }
    if !columns.iter().any(|column| column == "id") {
        return Ok(Err(NoColumn(table.to_owned(), "id".to_owned()).into()));
    }
    let (mut lists, mut fields) = (String::new(), Vec::new());
    for side in sides {
        let columns = columns_of(client, side.table).await?;
        if !side.is_read(&columns) || fields.contains(&side.field) {
            continue;
        }
        let owner = match side.owner(&columns) {
            Ok(owner) => owner,
            Err(missing) => return Ok(Err(missing.into())),
        };
        let SideTable { field, table, .. } = side;
        fields.push(field);
        // Writing into a string cannot fail.
        let _ = write!(
            lists,
            ", (SELECT json_agg(row_to_json(s)) FROM (SELECT * FROM {table} AS r WHERE r.\"{owner}\" = u.id
                LIMIT {MOST_SIDE_ROWS}) AS s) AS \"{field}\""
        );
    }
    Ok(Ok(format!(
        "SELECT row_to_json(t)::text FROM (SELECT u.*{lists} FROM {table} AS u ORDER BY u.id) AS t"
    )))
}

/// Returns the columns of a table, given as SQL; none if it does not exist.
async fn columns_of(client: &Client, table: &str) -> Fallible<Vec<String>> {
    let sql = "SELECT attname::text FROM pg_attribute
        WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped";
    let rows = client.query_typed(sql, &[(&table, Type::TEXT)]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

async fn read(client: &Client, sql: &str, chunk: &mut Chunk, chunks: &Sender<Chunk>) -> Fallible<()> {
    let no_values: [(&str, Type); 0] = [];
    let mut stream = pin!(client.query_typed_raw(sql, no_values).await?);
    while let Some(row) = stream.try_next().await? {
        if let Some(full) = chunk.add(row.get(0))
            && chunks.send(full).await.is_err()
        {
            return Ok(()); // the import ended early
        }
    }
    Ok(())
}
