#![allow(clippy::unwrap_used, clippy::expect_used)]

use latchkey_store::StoreResult;

use super::*;
use crate::options::PostgresOptions;
use crate::pool;
use latchkey_store_suite::cluster::{TestCluster, TestDatabase};

const FIRST: Migration = Migration { version: 1, name: "0001_a", sql: "CREATE TABLE a (x BIGINT)" };
const SECOND: Migration = Migration { version: 2, name: "0002_b", sql: "CREATE TABLE b (x BIGINT)" };

/// Empty database and a pool of connections to it.
fn database() -> (Pool, TestDatabase) {
    let database = TestCluster::shared().bare_database();
    (pool::build(&PostgresOptions::new(database.url())).unwrap(), database)
}

async fn count(pool: &Pool, sql: &str) -> i64 {
    number(&pool.get().await.unwrap(), sql).await.unwrap()
}

const COUNT_APPLIED: &str = "SELECT count(*) FROM schema_migrations WHERE version > 0";

fn reason<T: std::fmt::Debug>(outcome: Fallible<T>) -> String {
    match StoreError::from(outcome.unwrap_err()) {
        StoreError::Driver(source) => source.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn all_migrations_apply_and_applying_them_again_changes_nothing() {
    let (pool, _database) = database();
    assert_eq!(check(&pool).await.unwrap().len(), MIGRATIONS.len());
    migrate(&pool).await.unwrap();
    migrate(&pool).await.unwrap();
    assert_eq!(usize::try_from(count(&pool, COUNT_APPLIED).await).unwrap(), MIGRATIONS.len());
    assert!(check(&pool).await.unwrap().is_empty());
}

#[test]
fn versions_count_up_from_one_and_match_their_names() {
    for (index, migration) in MIGRATIONS.iter().enumerate() {
        assert_eq!(migration.version, i64::try_from(index).unwrap() + 1);
        assert!(migration.name.starts_with(&format!("{:04}_", migration.version)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_ten_instances_that_start_together_one_migrates() {
    for _ in 0..3 {
        let database = TestCluster::shared().bare_database();
        let instances: Vec<_> = (0..10)
            .map(|_| {
                let pool = pool::build(&PostgresOptions::new(database.url())).unwrap();
                tokio::spawn(async move { StoreResult::Ok(migrate(&pool).await?) })
            })
            .collect();
        for instance in instances {
            instance.await.unwrap().unwrap();
        }
        let pool = pool::build(&PostgresOptions::new(database.url())).unwrap();
        assert_eq!(usize::try_from(count(&pool, COUNT_APPLIED).await).unwrap(), MIGRATIONS.len());
    }
}

#[tokio::test]
async fn only_what_is_missing_is_applied() {
    let (pool, _database) = database();
    apply(&pool, &[FIRST]).await.unwrap();
    apply(&pool, &[FIRST, SECOND]).await.unwrap();
    assert_eq!(count(&pool, "SELECT max(version) FROM schema_migrations").await, 2);
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    let (pool, _database) = database();
    apply(&pool, &[FIRST, SECOND]).await.unwrap();
    assert!(reason(apply(&pool, &[FIRST]).await).contains("use a newer version"));
}

#[tokio::test]
async fn a_changed_migration_is_refused() {
    let (pool, _database) = database();
    apply(&pool, &[FIRST]).await.unwrap();
    let changed = Migration { sql: "CREATE TABLE a (x TEXT)", ..FIRST };
    assert!(reason(apply(&pool, &[changed]).await).contains("migration 1"));
}

#[tokio::test]
async fn a_database_of_something_else_is_refused_and_left_as_it_is() {
    let (pool, _database) = database();
    pool.get().await.unwrap().batch_execute("CREATE TABLE other (x BIGINT)").await.unwrap();
    assert!(reason(check(&pool).await).contains("something else"));
    assert!(reason(apply(&pool, &[FIRST]).await).contains("something else"));
    assert_eq!(count(&pool, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").await, 1);
}

#[tokio::test]
async fn a_failed_migration_leaves_no_table_behind_and_holds_no_lock() {
    let (pool, _database) = database();
    let broken = Migration { sql: "CREATE TABLE b (x BIGINT); NONSENSE", ..SECOND };
    assert!(apply(&pool, &[FIRST, broken]).await.is_err());
    assert_eq!(count(&pool, COUNT_APPLIED).await, 0);
    apply(&pool, &[FIRST, SECOND]).await.unwrap();
    assert_eq!(count(&pool, COUNT_APPLIED).await, 2);
}

#[tokio::test]
async fn a_database_of_another_encoding_is_refused() {
    let cluster = TestCluster::shared();
    cluster.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    let bare = cluster.bare_database();
    let pool = pool::build(&PostgresOptions::new(bare.url().replace(bare.name(), "latin"))).unwrap();
    assert!(reason(check(&pool).await).contains("LATIN1"));
}

#[tokio::test]
async fn what_is_up_to_date_asks_for_no_right_to_make_tables() {
    let (pool, database) = database();
    migrate(&pool).await.unwrap();
    let role = format!("reader_of_{}", database.name());
    let rights = format!(
        "CREATE ROLE {role} LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}"
    );
    pool.get().await.unwrap().batch_execute(&rights).await.unwrap();
    let url = database.url().replace("user=postgres", &format!("user={role}"));
    let least = pool::build(&PostgresOptions::new(url)).unwrap();
    migrate(&least).await.unwrap();
    drop(least);
    pool.get()
        .await
        .unwrap()
        .batch_execute(&format!("DROP OWNED BY {role}; DROP ROLE {role}"))
        .await
        .unwrap();
}

#[tokio::test]
async fn rows_from_before_the_shared_migrations_survive() {
    let (pool, _database) = database();
    apply(&pool, &MIGRATIONS[..13]).await.unwrap();
    let client = pool.get().await.unwrap();
    client
        .batch_execute(
            "INSERT INTO users (id, email, email_key, email_verified, first_verified_at, pending, contested, metadata,
                created_at, updated_at)
            VALUES ('00000000-0000-0000-0000-000000000000', 'Ada@x', 'ada@x', TRUE, 2, FALSE, FALSE, '{}', 1, 3),
                ('00000000-0000-0000-0000-000000000001', 'Eve@x', 'eve@x', FALSE, NULL, TRUE, FALSE, '{}', 4, 5);
            INSERT INTO credentials (user_id, kind, data, created_at, updated_at)
            SELECT id, 'password', 'p', 1, 1 FROM users;
            INSERT INTO identities (provider, subject, user_id, created_at, email)
            SELECT 'google', '7', id, 6, 'a@b' FROM users WHERE NOT pending;
            INSERT INTO sessions (id, user_id, family_hash, current_hash, retired, method, address, created_at,
                last_seen_at, idle_expires_at, absolute_expires_at)
            SELECT id, id, sha256('f'), sha256('c'), '', 'pwd', '::1', 8, 9, 10, 11 FROM users WHERE NOT pending;
            INSERT INTO codes (email_key, purpose, user_id, mac, attempts, created_at, expires_at)
            SELECT email_key, 'reset', id, sha256('m'), 3, 12, 13 FROM users WHERE NOT pending;
            INSERT INTO code_budgets (email_key, purpose, attempts, since, ends_at) VALUES ('ada@x', 'reset', 3, 14, 15)",
        )
        .await
        .unwrap();

    migrate(&pool).await.unwrap();

    for (sql, wanted) in [
        ("SELECT string_agg(proven::text, ',' ORDER BY user_id) FROM credentials", "true,false"),
        ("SELECT concat_ws(' ', issuer, subject, created_at, email) FROM identities", "? 7 6 a@b"),
        ("SELECT concat_ws(' ', amr, level, auth_time) FROM sessions", "pwd 1 8"),
        ("SELECT concat_ws(' ', lane, attempts, created_at, expires_at) FROM codes", "1 3 12 13"),
        ("SELECT concat_ws(' ', lane, attempts, day_attempts, day_since) FROM code_budgets", "1 3 3 14"),
        ("SELECT string_agg(signed_up_at::text, ',') FROM users", "5"),
    ] {
        let found: String = client.query_one(sql, &[]).await.unwrap().get(0);
        assert_eq!(found, wanted, "{sql}");
    }
    assert_eq!(
        count(&pool, "WITH gone AS (DELETE FROM users RETURNING 1) SELECT count(*) FROM gone").await,
        2
    );
    assert_eq!(count(&pool, "SELECT count(*) FROM identities").await, 0);
}
