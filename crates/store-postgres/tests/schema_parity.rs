//! Schema parity: both engines have the same tables, columns, nullability and unique keys under the same names,
//! except for the search index.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeSet;

use latchkey_store_sqlite::Sqlite;
use latchkey_store_suite::cluster::TestCluster;
use rusqlite::Connection;
use tokio_postgres::{Client, NoTls};

/// The search index: in SQLite a virtual table with shadow tables and the rowid of each entry; in PostgreSQL a
/// column. Feed places are unique only in SQLite, which has a single writer.
fn is_of_the_search_index(table: &str, column: &str) -> bool {
    table.starts_with("profile_search")
        || (table == "search_feed" && column == "place")
        || (table == "profiles" && ["search_id", "trigrams"].contains(&column))
}

/// Column: table, name, nullability.
type Columns = BTreeSet<(String, String, bool)>;
/// Unique key: table, columns or expression.
type Keys = BTreeSet<(String, String)>;

fn of_sqlite() -> (Columns, Keys) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    drop(Sqlite::open(&path).unwrap());
    let conn = Connection::open(&path).unwrap();
    let columns = "
        SELECT t.name, c.name, c.\"notnull\" = 0 FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c
        WHERE t.schema = 'main' AND t.type IN ('table', 'virtual') AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            AND c.hidden = 0";
    let keys = "
        SELECT t.name, group_concat(coalesce(i.name, 'expression'), ', ')
        FROM pragma_table_list AS t, pragma_index_list(t.name) AS x, pragma_index_info(x.name) AS i
        WHERE t.schema = 'main' AND x.\"unique\" = 1 AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        GROUP BY t.name, x.name
        UNION SELECT t.name, c.name FROM pragma_table_list AS t, pragma_table_info(t.name) AS c
        WHERE t.schema = 'main' AND c.pk = 1 AND c.type = 'INTEGER'
            AND (SELECT count(*) FROM pragma_table_info(t.name) AS o WHERE o.pk > 0) = 1";
    let mut statement = conn.prepare(columns).unwrap();
    let columns = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let columns = columns.map(Result::unwrap).collect();
    let mut statement = conn.prepare(keys).unwrap();
    let keys = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    (columns, keys.map(Result::unwrap).collect())
}

async fn of_postgres() -> (Columns, Keys) {
    let database = TestCluster::shared().database();
    let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    (columns_of(&client).await, keys_of(&client).await)
}

async fn columns_of(client: &Client) -> Columns {
    let sql =
        "SELECT table_name::text, column_name::text, is_nullable = 'YES' FROM information_schema.columns
        WHERE table_schema = 'public'";
    let rows = client.query(sql, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
}

async fn keys_of(client: &Client) -> Keys {
    let sql = "SELECT c.relname::text, string_agg(coalesce(a.attname, 'expression'), ', ' ORDER BY k.place)
        FROM pg_index AS x JOIN pg_class AS c ON c.oid = x.indrelid
        CROSS JOIN unnest(x.indkey) WITH ORDINALITY AS k (number, place)
        LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.number AND k.number > 0
        WHERE x.indisunique AND c.relnamespace = 'public'::regnamespace
        GROUP BY c.relname, x.indexrelid";
    let rows = client.query(sql, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

fn shared(columns: Columns, keys: Keys) -> (Columns, Keys) {
    let columns = columns.into_iter().filter(|(table, column, _)| !is_of_the_search_index(table, column));
    let keys = keys.into_iter().filter(|(table, columns)| !is_of_the_search_index(table, columns));
    (columns.collect(), keys.collect())
}

#[tokio::test]
async fn both_engines_have_the_same_tables_columns_and_keys() {
    let (columns, keys) = of_sqlite();
    let sqlite = shared(columns, keys);
    let (columns, keys) = of_postgres().await;
    let postgres = shared(columns, keys);
    assert!(sqlite.0.len() > 80 && sqlite.1.len() > 15, "{sqlite:?}");
    let columns: Vec<_> = sqlite.0.symmetric_difference(&postgres.0).collect();
    assert!(columns.is_empty(), "columns of one engine alone: {columns:?}");
    let keys: Vec<_> = sqlite.1.symmetric_difference(&postgres.1).collect();
    assert!(keys.is_empty(), "unique keys of one engine alone: {keys:?}");
}

#[test]
fn both_engines_have_migrations_of_the_same_names() {
    let names = |engine: &str| -> BTreeSet<_> {
        let folder = format!("{}/../{engine}/migrations", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect()
    };
    assert_eq!(names("store-postgres"), names("store-sqlite"));
}

#[tokio::test]
async fn every_text_column_has_a_bytewise_collation() {
    let database = TestCluster::shared().database();
    let (client, connection) = tokio_postgres::connect(database.url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    let sql = "SELECT table_name::text || '.' || column_name::text FROM information_schema.columns
        WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'";
    let others: Vec<String> = client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert!(others.is_empty(), "{others:?}");
}
