//! Tests of upkeep beside a fault.

use std::sync::Arc;

use latchkey_testkit::PASSWORD;
use latchkey_testkit::postgres::TestCluster;

use crate::backup::FILE;
use crate::binary::{Binary, eventually};

#[tokio::test]
async fn step_of_upkeep_that_fails_holds_up_no_other() {
    let binary = Binary::new();
    binary.serve().await.stop().await;
    let file = rusqlite::Connection::open(binary.path(FILE)).unwrap();
    let expired = "INSERT INTO oauth_flows
        (state_hash, provider, code_challenge, redirect_to, sealed, created_at, expires_at)
        VALUES (randomblob(32), 'google', randomblob(32), 'http://localhost/', randomblob(60), 0, 1)";
    file.execute(expired, []).unwrap();
    // The counts of the first start are away, and new ones are refused.
    let fault = "CREATE TRIGGER fault BEFORE INSERT ON statistics BEGIN SELECT RAISE(ABORT, 'a fault'); END";
    file.execute_batch(&format!("DELETE FROM statistics; {fault}")).unwrap();

    let running = binary.serve().await;

    let count =
        || file.query_row("SELECT count(*) FROM oauth_flows", [], |row| row.get::<_, u32>(0)).unwrap();
    eventually("what expired is deleted", async || (count() == 0).then_some(())).await;
    running.says("a step of upkeep failed").await;
    let output = running.stop().await;
    assert!(output.err.contains("count the statistics"), "{output:#?}");
}

#[tokio::test]
async fn part_of_the_purge_that_fails_holds_up_no_other() {
    let binary = Binary::new();
    binary.run_with_input(&["user", "create", "ada@example.org"], PASSWORD).await.good(); // has an event
    let file = rusqlite::Connection::open(binary.path(FILE)).unwrap();
    let expired = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
        INSERT INTO oauth_flows
        (state_hash, provider, code_challenge, redirect_to, sealed, created_at, expires_at)
        SELECT randomblob(32), 'google', randomblob(32), 'http://localhost/', randomblob(60), 0, 1 FROM n";
    file.execute(expired, []).unwrap();
    let old = "UPDATE audit_events SET happened_at = 1";
    let fault =
        "CREATE TRIGGER fault BEFORE DELETE ON audit_events BEGIN SELECT RAISE(ABORT, 'a fault'); END";
    file.execute_batch(&format!("{old}; {fault}")).unwrap();

    let running = binary.serve().await;

    running.says("delete expired rows").await;
    let rows = |table: &str| {
        file.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, u32>(0)).unwrap()
    };
    assert_eq!(rows("oauth_flows"), 0);
    assert_ne!(rows("audit_events"), 0);
}

/// Locks a table that only the counting reads, until the table `released` has a row, at most 20 s.
const LOCK: &str = "BEGIN; LOCK TABLE identities IN ACCESS EXCLUSIVE MODE; DO $$ BEGIN FOR i IN 1..2000 LOOP
    EXIT WHEN EXISTS (SELECT FROM released); PERFORM pg_sleep(0.01); END LOOP; END $$; COMMIT";
/// Waits until the table is locked, or until another waits for it.
const LOCKED: &str = "DO $$ BEGIN FOR i IN 1..2000 LOOP EXIT WHEN EXISTS (SELECT FROM pg_locks
    WHERE relation = 'identities'::regclass AND granted = GRANTED); PERFORM pg_sleep(0.01); END LOOP; END $$";

#[tokio::test]
async fn stop_does_not_wait_for_the_counting() {
    let database = Arc::new(TestCluster::shared().database());
    database.run("CREATE TABLE released (at integer)");
    let lock = std::thread::spawn({
        let database = Arc::clone(&database);
        move || database.run(LOCK)
    });
    database.run(&LOCKED.replace("GRANTED", "true"));
    let running = Binary::new().on(&database).serve().await;
    database.run(&LOCKED.replace("GRANTED", "false"));

    let output = running.stop().await;

    database.run("INSERT INTO released VALUES (1)");
    lock.join().unwrap();
    assert_eq!(output.code, Some(0), "{output:#?}");
    assert!(!output.err.contains("did not end in time"), "{output:#?}");
    assert!(!database.rows().iter().any(|row| row.starts_with("instances")), "it left the list");
}
