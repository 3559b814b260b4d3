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
    migrate(&conn, None).unwrap();
    migrate(&conn, None).unwrap();
    let applied = number(&conn, "SELECT count(*) FROM schema_migrations", []).unwrap();
    assert_eq!(usize::try_from(applied).unwrap(), MIGRATIONS.len());
}

#[test]
fn an_empty_file_gets_what_all_migrations_lead_to() {
    let (stepwise, at_once) = (database(), database());
    apply(&stepwise, MIGRATIONS).unwrap();
    migrate(&at_once, None).unwrap();
    let script = |conn| fresh::script_of(conn).unwrap();
    assert_eq!(script(&at_once), script(&stepwise), "run cargo xtask generated --write");
    assert_eq!(list_applied(&at_once).unwrap(), list_applied(&stepwise).unwrap());
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
fn database_of_another_application_is_refused() {
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

#[test]
fn rows_from_before_the_shared_migrations_survive() {
    let conn = database();
    conn.pragma_update(None, "foreign_keys", true).unwrap();
    apply(&conn, &MIGRATIONS[..13]).unwrap();
    conn.execute_batch(
        "INSERT INTO users (id, email, email_key, email_verified, first_verified_at, pending, contested, metadata,
            created_at, updated_at)
        VALUES (zeroblob(16), 'Ada@x', 'ada@x', 1, 2, 0, 0, '{}', 1, 3),
            (x'01010101010101010101010101010101', 'Eve@x', 'eve@x', 0, NULL, 1, 0, '{}', 4, 5);
        INSERT INTO credentials (user_id, kind, data, created_at, updated_at) SELECT id, 'password', 'p', 1, 1 FROM users;
        INSERT INTO identities (provider, subject, user_id, created_at, email) VALUES ('google', '7', zeroblob(16), 6, 'a@b');
        INSERT INTO sessions (id, user_id, family_hash, current_hash, retired, method, address, created_at, last_seen_at,
            idle_expires_at, absolute_expires_at)
        VALUES (zeroblob(16), zeroblob(16), zeroblob(32), zeroblob(32), x'', 'pwd', '::1', 8, 9, 10, 11);
        INSERT INTO codes (email_key, purpose, user_id, mac, attempts, created_at, expires_at)
        VALUES ('ada@x', 'reset', zeroblob(16), zeroblob(32), 3, 12, 13);
        INSERT INTO code_budgets (email_key, purpose, attempts, since, ends_at) VALUES ('ada@x', 'reset', 3, 14, 15)",
    )
    .unwrap();

    migrate(&conn, None).unwrap();

    let one = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(
        one("SELECT group_concat(proven) FROM (SELECT proven FROM credentials ORDER BY user_id)"),
        "1,0"
    );
    assert_eq!(one("SELECT concat_ws(' ', issuer, subject, created_at, email) FROM identities"), "? 7 6 a@b");
    assert_eq!(one("SELECT concat_ws(' ', amr, level, auth_time) FROM sessions"), "pwd 1 8");
    assert_eq!(one("SELECT concat_ws(' ', lane, attempts, created_at, expires_at) FROM codes"), "1 3 12 13");
    assert_eq!(
        one("SELECT concat_ws(' ', lane, attempts, day_attempts, day_since) FROM code_budgets"),
        "1 3 3 14"
    );
    assert_eq!(one("SELECT group_concat(signed_up_at) FROM users"), "5");
    assert_eq!(number(&conn, "SELECT count(*) FROM pragma_foreign_key_check", []).unwrap(), 0);
    execute(&conn, "DELETE FROM users", []).unwrap();
    for table in ["credentials", "identities", "sessions", "codes"] {
        assert_eq!(number(&conn, &format!("SELECT count(*) FROM {table}"), []).unwrap(), 0, "{table}");
    }
}

#[test]
fn profiles_from_before_are_in_the_index_by_name_and_leave_it() {
    let conn = database();
    apply(&conn, &MIGRATIONS[..37]).unwrap();
    conn.execute_batch(
        "INSERT INTO users (id, email, email_key, email_verified, pending, contested, metadata, created_at, updated_at)
        VALUES (zeroblob(16), 'a@x', 'a@x', 1, 0, 0, '{}', 1, 1), (x'02020202020202020202020202020202', 'b@x', 'b@x', 1, 0, 0, '{}', 1, 1);
        INSERT INTO profiles (id, user_id, name, folded_name, folded_username, folded_bio, bio, searchable, metadata,
            custom, created_at, updated_at, version)
        SELECT id, id, 'Ada', 'ada', '', 'likes lace', 'likes lace', 1, '{}', '{}', 1, 1, 1 FROM users;
        INSERT INTO profile_search (rowid, words) SELECT search_id, '  ada    likes  lace' FROM profiles
        WHERE user_id = zeroblob(16);
        DELETE FROM profile_search_pending
        WHERE search_id = (SELECT search_id FROM profiles WHERE user_id = zeroblob(16))",
    )
    .unwrap();

    migrate(&conn, None).unwrap();

    let hits = |word: &str| {
        let sql = format!("SELECT count(*) FROM profile_search WHERE profile_search MATCH '\"{word}\"'");
        number(&conn, &sql, []).unwrap()
    };
    assert_eq!((hits("ADA"), hits("lac"), hits("LAC")), (1, 1, 0), "the other profile is still pending");
    crate::search::pending::index_pending(&conn, 9).unwrap();
    assert_eq!((hits("ADA"), hits("lac")), (2, 2));
    execute(&conn, "DELETE FROM profiles", []).unwrap();
    assert_eq!((hits("ADA"), hits("ada"), hits("lac")), (0, 0, 0));
}
