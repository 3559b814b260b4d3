//! Copies of a whole instance from SQLite to PostgreSQL: the schema is covered completely, every kind of value
//! arrives, and an interrupted copy resumes. The command itself is tested with the binary.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod world;

use std::collections::BTreeSet;
use std::path::PathBuf;

use latchkey_store::StoreError;
use latchkey_store_operations::bulk::{Cell, Column, Kind, Row, Table, TableDigest};
use latchkey_store_operations::tables::TABLES;
use latchkey_store_postgres::{
    CopyStart, CopyTarget, MigrationError, Postgres, PostgresOptions, TargetError,
};
use latchkey_store_sqlite::{SourceError, Sqlite, SqliteSource};
use latchkey_store_suite::cluster::{TestCluster, TestDatabase};
use rusqlite::{Connection, params_from_iter, types::Value};
use tempfile::TempDir;

use world::connect;

const ROWS: i64 = 7;
/// Rows per batch; a table takes several batches.
const BATCH: u32 = 3;

/// Data that is not copied but rebuilt: migration bookkeeping, the search index, the search feed and
/// the numbers of users.
fn is_of_one_engine(table: &str, column: &str) -> bool {
    ["schema_migrations", "search_feed", "search_feed_state", "user_counts"].contains(&table)
        || table.starts_with("profile_search")
        || (table == "profiles" && ["search_id", "trigrams"].contains(&column))
}

/// SQLite file with a schema and only the rows of the migrations.
struct File {
    folder: TempDir,
}

impl File {
    fn new() -> Self {
        let file = Self { folder: tempfile::tempdir().unwrap() };
        drop(Sqlite::open(&file.path()).unwrap());
        file
    }

    /// File with rows in every table.
    fn filled() -> Self {
        let file = Self::new();
        let conn = file.connection();
        for table in TABLES {
            conn.execute(&format!("DELETE FROM {}", table.name), []).unwrap();
            let has_one_row = table.is_seeded || table.name == "secret_rotations";
            for number in 1..=if has_one_row { 1 } else { ROWS } {
                insert(&conn, table, number);
            }
        }
        file
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("test.db")
    }

    fn connection(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    fn run(&self, sql: &str) {
        self.connection().execute_batch(sql).unwrap();
    }

    fn source(&self) -> SqliteSource {
        SqliteSource::open(&self.path()).unwrap()
    }
}

/// Inserts the row of a number; nullable columns are null in every second row.
fn insert(conn: &Connection, table: &Table, number: i64) {
    let nullable: BTreeSet<String> = {
        let mut statement =
            conn.prepare("SELECT name FROM pragma_table_info(?1) WHERE \"notnull\" = 0").unwrap();
        statement.query_map([table.name], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let value = |column: &Column| {
        let is_null = number % 2 == 0 && nullable.contains(column.name) && table.name != "signing_keys";
        if is_null { Value::Null } else { value(table.name, column, number) }
    };
    let marks = vec!["?"; table.columns.len()].join(", ");
    let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", table.name, table.column_names());
    conn.execute(&sql, params_from_iter(table.columns.iter().map(value))).unwrap();
}

fn value(table: &str, column: &Column, number: i64) -> Value {
    let blob = |length: usize| {
        let mut bytes = vec![0xA5; length];
        bytes[0] = u8::try_from(number).unwrap();
        Value::Blob(bytes)
    };
    match (table, column.name, column.kind) {
        (_, "state", _) => Value::Text("queued".to_owned()),
        ("oauth_providers", "kind", _) => Value::Text("built_in".to_owned()),
        ("link_tokens", "kind", _) => Value::Text("link".to_owned()),
        ("signing_keys", "verify_until", _) if number == 1 => Value::Null, // one key signs
        (_, _, Kind::Id) | (_, "key" | "account_key" | "aaguid", Kind::Bytes) => blob(16),
        (_, _, Kind::Bytes) => blob(32),
        (_, _, Kind::Int) => Value::Integer(number),
        (_, _, Kind::Flag) => Value::Integer(number % 2),
        (_, name, Kind::Text) => {
            Value::Text(format!("{name} {number} Ärger ß 計算 👩\u{200D}💻 \\ ' \" {{}} ,"))
        }
    }
}

/// Digests of all tables of a source.
fn survey(source: &SqliteSource) -> Vec<(&'static Table, TableDigest)> {
    let digest = |table| source.digest::<SourceError>(table, BATCH, |_| Ok(())).unwrap();
    TABLES.iter().map(|table| (table, digest(table))).collect()
}

fn database() -> TestDatabase {
    TestCluster::shared().bare_database()
}

async fn target(database: &TestDatabase) -> CopyTarget {
    CopyTarget::open(PostgresOptions::new(database.url())).await.unwrap()
}

/// Copies missing rows, up to `most`; returns their number.
async fn copy(source: &SqliteSource, target: &CopyTarget, most: usize) -> usize {
    let mut copied = 0;
    for table in TABLES {
        let mut after = target.copied(table).await.unwrap();
        loop {
            let rows: Vec<Row> = source.rows(table, after.as_ref(), BATCH).unwrap();
            let Some(last) = rows.last() else { break };
            if copied + rows.len() > most {
                return copied;
            }
            after = Some(last[..table.key].to_vec());
            target.append(table, &rows).await.unwrap();
            copied += rows.len();
        }
    }
    copied
}

async fn assert_same(target: &CopyTarget, plan: &[(&'static Table, TableDigest)]) {
    for (table, digest) in plan {
        assert_eq!(target.digest(table, BATCH, |_| ()).await.unwrap(), *digest, "{}", table.name);
    }
}

#[tokio::test]
async fn every_table_and_column_of_the_schema_is_copied() {
    let described: BTreeSet<(String, String)> = TABLES
        .iter()
        .flat_map(|table| table.columns.iter().map(|column| (table.name.to_owned(), column.name.to_owned())))
        .collect();
    let file = File::new();
    let conn = file.connection();
    let sql = "SELECT t.name, c.name FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c
        WHERE t.schema = 'main' AND t.type IN ('table', 'virtual') AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            AND c.hidden = 0";
    let mut statement = conn.prepare(sql).unwrap();
    let of_sqlite = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let of_sqlite: BTreeSet<(String, String)> = of_sqlite.map(Result::unwrap).collect();

    let database = TestCluster::shared().database();
    let client = connect(database.url()).await;
    let sql = "SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = 'public'";
    let rows = client.query(sql, &[]).await.unwrap();
    let of_postgres = rows.iter().map(|row| (row.get(0), row.get(1))).collect();

    for (engine, columns) in [("SQLite", of_sqlite), ("PostgreSQL", of_postgres)] {
        let all: BTreeSet<_> =
            columns.into_iter().filter(|(table, column)| !is_of_one_engine(table, column)).collect();
        let missing: Vec<_> = all.symmetric_difference(&described).collect();
        assert!(missing.is_empty(), "of {engine} or of crates/store/src/bulk/tables.rs alone: {missing:?}");
    }
}

#[tokio::test]
async fn every_row_of_every_table_arrives_as_it_was() {
    let (file, database) = (File::filled(), database());
    let source = file.source();
    let plan = survey(&source);
    assert!(plan.iter().all(|(_, digest)| digest.rows > 0));
    let target = target(&database).await;

    assert_eq!(target.begin(&plan).await.unwrap(), CopyStart::New);
    copy(&source, &target, usize::MAX).await;

    assert_same(&target, &plan).await;
    assert!(!source.has_changed().unwrap());
    target.finish().await.unwrap();
    Postgres::connect(PostgresOptions::new(database.url())).await.unwrap().migrate().await.unwrap();
}

#[tokio::test]
async fn interrupted_copy_goes_on_where_it_ended() {
    let (file, database) = (File::filled(), database());
    let plan = survey(&file.source());
    let all = usize::try_from(plan.iter().map(|(_, digest)| digest.rows).sum::<u64>()).unwrap();
    for most in [0, 1, 10, 17, 40] {
        let (source, target) = (file.source(), target(&database).await);
        target.begin(&plan).await.unwrap();
        copy(&source, &target, most).await;
    }
    let before: u64 = {
        let target = target(&database).await;
        let mut rows = 0;
        for table in TABLES {
            let last = target.copied(table).await.unwrap();
            rows += last.map_or(0, |key| file.source().count_up_to(table, &key).unwrap());
        }
        rows
    };

    let target = target(&database).await;
    assert_eq!(target.begin(&plan).await.unwrap(), CopyStart::GoesOn);
    let copied = copy(&file.source(), &target, usize::MAX).await;

    assert!(before > 0 && copied > 0);
    assert_eq!(usize::try_from(before).unwrap() + copied, all);
    assert_same(&target, &plan).await;
}

#[tokio::test]
async fn unfinished_copy_refuses_a_service_and_another_source() {
    let (file, database) = (File::filled(), database());
    let target = target(&database).await;
    target.begin(&survey(&file.source())).await.unwrap();

    let store = Postgres::connect(PostgresOptions::new(database.url())).await.unwrap();
    for outcome in [store.migrate().await, store.check_migrations().await.map(drop)] {
        let StoreError::Driver(refusal) = outcome.unwrap_err() else { panic!("another error") };
        assert!(matches!(refusal.downcast_ref(), Some(MigrationError::UnfinishedCopy)), "{refusal}");
    }
    file.run("UPDATE users SET updated_at = updated_at + 1 WHERE created_at = 3");
    let refused = target.begin(&survey(&file.source())).await.unwrap_err();
    assert!(matches!(refused, TargetError::OtherSource), "{refused}");
}

#[tokio::test]
async fn database_that_is_not_empty_is_refused() {
    let (file, database) = (File::filled(), TestCluster::shared().database());
    connect(database.url()).await.batch_execute("INSERT INTO settings VALUES ('a', 'b', 1)").await.unwrap();

    let refused = target(&database).await.begin(&survey(&file.source())).await.unwrap_err();

    assert!(matches!(&refused, TargetError::NotEmpty(table) if table == "settings"), "{refused}");
}

#[tokio::test]
async fn row_written_by_another_process_is_not_written_again() {
    let (file, database) = (File::filled(), database());
    let (source, target) = (file.source(), target(&database).await);
    target.begin(&survey(&source)).await.unwrap();
    let table = &TABLES[0];
    let rows = source.rows(table, None, BATCH).unwrap();
    target.append(table, &rows).await.unwrap();

    let refused = target.append(table, &rows).await.unwrap_err();

    assert!(matches!(refused, TargetError::Crowded("users")), "{refused}");
    let last = target.copied(table).await.unwrap().unwrap();
    assert_eq!(source.count_up_to(table, &last).unwrap(), u64::from(BATCH));
}

#[test]
fn unstorable_text_is_reported_with_its_row() {
    let file = File::filled();
    file.run("UPDATE profiles SET bio = 'a' || char(0) || 'b' WHERE created_at = 3");
    let source = file.source();
    let table = TABLES.iter().find(|table| table.name == "profiles").unwrap();
    let rows = source.rows(table, None, 100).unwrap();
    let Cell::Id(id) = rows[2][0] else { panic!("an id") };
    let id = uuid::Uuid::from_bytes(id);

    let refused = CopyTarget::check(table, &rows).unwrap_err().to_string();

    let said = format!("profiles (id = {id}): the column bio holds U+0000, which PostgreSQL cannot keep");
    assert!(refused.starts_with(&said), "{refused}");
}

#[test]
fn invalid_utf_8_is_reported_with_its_row() {
    let file = File::filled();
    file.run("UPDATE settings SET value = CAST(x'ff' AS TEXT) WHERE updated_at = 2");
    let table = TABLES.iter().find(|table| table.name == "settings").unwrap();

    let refused = file.source().rows(table, None, 100).err().unwrap().to_string();

    assert!(refused.starts_with("settings (key = \"key 2 "), "{refused}");
    assert!(refused.contains("the column value holds a text that is not UTF-8"), "{refused}");
}

#[test]
fn later_writes_to_the_source_are_detected_and_not_read() {
    let file = File::filled();
    let source = file.source();
    let before = survey(&source);
    assert!(!source.has_changed().unwrap());

    file.run("DELETE FROM sessions");

    assert!(source.has_changed().unwrap());
    assert_eq!(survey(&source), before);
}

#[test]
fn source_of_another_version_is_refused() {
    let file = File::new();
    file.run("DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)");
    let refused = SqliteSource::open(&file.path()).err().unwrap();
    assert!(matches!(refused, SourceError::Outdated(_)), "{refused}");

    file.run("INSERT INTO schema_migrations VALUES (9999, '9999_x', x'00')");
    let refused = SqliteSource::open(&file.path()).err().unwrap();
    assert!(matches!(refused, SourceError::Store(StoreError::Driver(_))), "{refused}");
}
