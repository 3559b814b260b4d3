//! Tests of upkeep beside a fault.

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
    let output = running.stop().await;
    assert!(output.err.contains("a step of upkeep failed"), "{output:#?}");
    assert!(output.err.contains("count the statistics"), "{output:#?}");
}
