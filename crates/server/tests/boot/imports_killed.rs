//! Imports of many accounts. Killed at random points and resumed, they end as if they had run in one go, on both engines.

use std::time::Duration;

use latchkey_store_suite::cluster::TestCluster;
use latchkey_testkit::Value;
use rand::{RngExt, SeedableRng};

use crate::binary::Binary;
use crate::imports::write_records;

const RECORDS: usize = 20_000;
const KILLS: usize = 20;

/// Accounts, and the numbers of the import.
async fn result(binary: &Binary) -> (String, Value) {
    let users = binary.run(&["user", "list", "--limit", "1"]).await;
    let total = users.good().lines().last().unwrap().to_owned();
    let imports: Value = binary.run(&["import", "list", "--json"]).await.good().parse().unwrap();
    assert_eq!(imports["data"].as_array().unwrap().len(), 1, "{imports}");
    let mut import = imports["data"][0].clone();
    for key in ["id", "startedAt", "endedAt"] {
        import[key] = Value::Null;
    }
    (total, import)
}

/// Runs an import slowly, kills it again and again after a random time, and ends it. Returns the number of kills.
async fn import_with_kills(binary: &Binary) -> usize {
    let mut random = rand::rngs::StdRng::seed_from_u64(7);
    let command = ["import", "people.jsonl", "--from", "latchkey", "--rate", "500"];
    for killed in 0..KILLS {
        let mut child = binary.command(&command).spawn().unwrap();
        let patience = Duration::from_millis(random.random_range(100..2_500));
        if let Ok(status) = tokio::time::timeout(patience, child.wait()).await {
            assert!(status.unwrap().success());
            return killed;
        }
        child.kill().await.unwrap();
    }
    binary.run(&command[..4]).await.good();
    KILLS
}

async fn assert_same_as_in_one_go(killed: &Binary, calm: &Binary) {
    for binary in [killed, calm] {
        write_records(binary, "people.jsonl", RECORDS);
        binary.run(&["migrate"]).await.good();
    }
    let kills = import_with_kills(killed).await;
    calm.run(&["import", "people.jsonl", "--from", "latchkey"]).await.good();

    let (found, expected) = (result(killed).await, result(calm).await);
    assert_eq!(found, expected, "after {kills} kills");
    assert_eq!(expected.0, format!("1 of {RECORDS}"));
    assert!(kills > 5, "{kills} kills");
    let audit = killed.run(&["audit", "--jsonl", "--kind", "user_imported"]).await;
    assert_eq!(audit.good().lines().count(), RECORDS, "an event for each account");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_import_ends_as_in_one_go_on_sqlite() {
    assert_same_as_in_one_go(&Binary::new(), &Binary::new()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_import_ends_as_in_one_go_on_postgresql() {
    let (one, other) = (TestCluster::shared().bare_database(), TestCluster::shared().bare_database());
    let on = |database: &latchkey_store_suite::cluster::TestDatabase| {
        Binary::new().set(&format!("storage.url={}", database.url()))
    };
    assert_same_as_in_one_go(&on(&one), &on(&other)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn import_into_tables_that_were_never_analysed_does_not_read_them_as_a_whole_for_each_batch() {
    let database = TestCluster::shared().bare_database();
    let binary = Binary::new().set(&format!("storage.url={}", database.url()));
    write_records(&binary, "people.jsonl", RECORDS);
    binary.run(&["migrate"]).await.good();
    for table in ["users", "profiles"] {
        database.run(&format!("ALTER TABLE {table} SET (autovacuum_enabled = off)"));
    }

    binary.run(&["import", "people.jsonl", "--from", "latchkey"]).await.good();
    database.run(&format!(
        "DO $$ BEGIN ASSERT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables
            WHERE relname IN ('users', 'profiles')) < {RECORDS}; END $$"
    ));
}
