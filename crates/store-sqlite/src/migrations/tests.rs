#![allow(clippy::unwrap_used, clippy::expect_used)]

use latchkey_store::StoreError;

use super::*;

const FIRST: Migration = Migration { version: 1, name: "0001_a", sql: "CREATE TABLE a (x INTEGER) STRICT" };
const SECOND: Migration = Migration { version: 2, name: "0002_b", sql: "CREATE TABLE b (x INTEGER) STRICT" };

fn database() -> Connection {
    Connection::open_in_memory().unwrap()
}

fn reason(outcome: Fallible<()>) -> String {
    match StoreError::from(outcome.unwrap_err()) {
        StoreError::Driver(source) => source.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_migrations_apply_and_applying_them_again_changes_nothing() {
    let conn = database();
    migrate(&conn).unwrap();
    migrate(&conn).unwrap();
    let applied = number(&conn, "SELECT count(*) FROM schema_migrations", []).unwrap();
    assert_eq!(usize::try_from(applied).unwrap(), MIGRATIONS.len());
}

#[test]
fn versions_count_up_from_one_and_match_their_names() {
    for (index, migration) in MIGRATIONS.iter().enumerate() {
        assert_eq!(migration.version, i64::try_from(index).unwrap() + 1);
        assert!(migration.name.starts_with(&format!("{:04}_", migration.version)));
    }
}

#[test]
fn only_what_is_missing_is_applied() {
    let conn = database();
    apply(&conn, &[FIRST]).unwrap();
    apply(&conn, &[FIRST, SECOND]).unwrap();
    assert_eq!(number(&conn, "SELECT max(version) FROM schema_migrations", []).unwrap(), 2);
}

#[test]
fn a_newer_database_is_refused() {
    let conn = database();
    apply(&conn, &[FIRST, SECOND]).unwrap();
    assert!(reason(apply(&conn, &[FIRST])).contains("use a newer version"));
}

#[test]
fn a_changed_migration_is_refused() {
    let conn = database();
    apply(&conn, &[FIRST]).unwrap();
    let changed = Migration { sql: "CREATE TABLE a (x TEXT) STRICT", ..FIRST };
    assert!(reason(apply(&conn, &[changed])).contains("migration 1"));
}

#[test]
fn a_database_of_something_else_is_refused() {
    let conn = database();
    conn.execute_batch("CREATE TABLE other (x INTEGER)").unwrap();
    assert!(reason(apply(&conn, &[FIRST])).contains("something else"));
}

#[test]
fn a_failed_migration_leaves_nothing_behind() {
    let conn = database();
    let broken = Migration { sql: "CREATE TABLE b (x INTEGER) STRICT; NONSENSE", ..SECOND };
    assert!(apply(&conn, &[FIRST, broken]).is_err());
    assert_eq!(number(&conn, "SELECT count(*) FROM sqlite_schema", []).unwrap(), 0);
}
