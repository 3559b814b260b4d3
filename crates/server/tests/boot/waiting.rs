//! Tests of a database that is unavailable at the start. The service waits, logs the reason, and continues by itself.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use latchkey_testkit::postgres::{TestCluster, TestDatabase};
use latchkey_testkit::{Answer, Client, PASSWORD, json};

use crate::backup::FILE;
use crate::binary::{Binary, eventually};

/// Stopped PostgreSQL cluster with a database.
fn down() -> (TestCluster, TestDatabase) {
    let cluster = TestCluster::start(&[]).unwrap_or_else(|error| panic!("{error}"));
    let database = cluster.bare_database();
    cluster.halt();
    (cluster, database)
}

/// Binary configured for that database, and a client of the address that it will listen on.
fn binary_on(database: &TestDatabase) -> (Binary, Client) {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free));
    let binary = Binary::new().on(database).set(&format!("server.bind={address}"));
    (binary, Client::outside(address, &format!("http://localhost:{free}")))
}

/// Waits until the service listens.
async fn listens(client: &Client) {
    eventually("the process answers", async || {
        let answer = client.get("/health/live").try_send().await.ok()?;
        assert_eq!(answer.expect(200)["status"], "live");
        Some(())
    })
    .await;
}

#[track_caller]
fn assert_unavailable(answer: &Answer) {
    answer.refused(503, "STORAGE_UNAVAILABLE");
    assert!(answer.number("retry-after") > 0);
}

#[tokio::test]
async fn service_waits_for_its_database_and_continues_when_it_is_available() {
    let (cluster, database) = down();
    let (binary, client) = binary_on(&database);

    let starting = binary.start();
    listens(&client).await;

    assert_unavailable(&client.get("/health/ready").send().await);
    assert_unavailable(&client.get("/api/profiles/me").send().await);
    assert_unavailable(&client.sign_up("ada@example.org", PASSWORD).send().await);
    assert_unavailable(&client.get("/.well-known/jwks.json").send().await);
    assert_unavailable(&client.get("/nowhere").send().await);
    cluster.resume();
    let running = starting.ready().await;
    client.get("/health/ready").send().await.expect(200);
    client.sign_up("ada@example.org", PASSWORD).send().await.expect(200);
    client.get("/nowhere").send().await.refused(404, "NOT_FOUND");
    let output = running.stop().await;
    assert_eq!(output.code, Some(0), "{output:#?}");
    for words in ["the database cannot be reached: waiting for it", "the database is there"] {
        assert!(output.err.contains(words), "{words:?} is missing in {output:#?}");
    }
}

#[tokio::test]
async fn service_answers_while_it_opens_a_sqlite_file() {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let binary = Binary::new().set(&format!("server.bind={free}"));
    binary.serve().await.stop().await;
    let client = Client::outside(free, &format!("http://{free}"));
    let file = rusqlite::Connection::open(binary.path(FILE)).unwrap();
    file.execute_batch("BEGIN IMMEDIATE").unwrap(); // the start waits for this lock, as for a long migration

    let starting = binary.start();
    listens(&client).await;
    assert_unavailable(&client.get("/health/ready").send().await);
    file.execute_batch("COMMIT").unwrap();

    starting.ready().await.anon().get("/health/ready").send().await.expect(200);
}

#[tokio::test]
async fn waiting_service_stops_on_a_signal() {
    let (_cluster, database) = down();
    let (binary, client) = binary_on(&database);
    // No request would be served during the delay.
    let starting = binary.set("server.stop_delay=1h").start();
    listens(&client).await;

    let output = starting.stop().await;

    assert_eq!(output.code, Some(0), "{output:#?}");
    assert!(output.err.contains("stopped") && output.out.is_empty(), "{output:#?}");
}

/// Locks the operators, which the start reads for the banner, until the table `released` has a row, at most 20 s.
const LOCK: &str = "BEGIN; LOCK TABLE operators IN ACCESS EXCLUSIVE MODE; DO $$ BEGIN FOR i IN 1..2000 LOOP
    EXIT WHEN EXISTS (SELECT FROM released); PERFORM pg_sleep(0.01); END LOOP; END $$; COMMIT";
/// Waits until the operators are locked.
const LOCKED: &str = "DO $$ BEGIN FOR i IN 1..2000 LOOP EXIT WHEN EXISTS (SELECT FROM pg_locks
    WHERE relation = 'operators'::regclass AND mode = 'AccessExclusiveLock' AND granted);
    PERFORM pg_sleep(0.01); END LOOP; END $$";

#[tokio::test]
async fn service_that_is_stopped_during_its_start_is_not_called_ready() {
    let database = Arc::new(TestCluster::shared().database());
    let (binary, client) = binary_on(&database);
    database.run("CREATE TABLE released (at integer)");
    let lock = std::thread::spawn({
        let database = Arc::clone(&database);
        move || database.run(LOCK)
    });
    database.run(LOCKED);
    let starting = binary.start();
    listens(&client).await;

    let release = async {
        let is_closed = async || client.get("/health/live").try_send().await.is_err().then_some(());
        eventually("the listener closes", is_closed).await;
        database.run("INSERT INTO released VALUES (1)");
    };
    let (output, ()) = tokio::join!(starting.stop(), release);

    lock.join().unwrap();
    assert_eq!(output.code, Some(0), "{output:#?}");
    assert!(output.err.contains("stopping") && output.err.contains("stopped"), "{output:#?}");
    assert!(!output.err.contains("started") && output.out.is_empty(), "{output:#?}");
}

#[tokio::test]
async fn permanent_error_ends_the_wait_when_the_database_is_available() {
    let (cluster, database) = down();
    let (binary, client) = binary_on(&database);
    let url = database.url().replace(database.name(), "no_such_database");
    let starting = binary.set(&format!("storage.url={url}")).start();
    listens(&client).await;

    cluster.resume();

    starting.ended().await.refused(&["storage.url", "no_such_database", "CREATE DATABASE"]);
}

#[tokio::test]
async fn web_page_can_read_that_the_service_waits() {
    let (_cluster, database) = down();
    let (binary, client) = binary_on(&database);
    let _starting = binary.set("server.cors_origins=https://app.example.com").start();
    listens(&client).await;

    let body = json!({"email": "ada@example.org", "password": PASSWORD});
    let request = client.post("/api/auth/sessions", body).header("origin", "https://app.example.com");
    let answer = request.send().await;

    assert_unavailable(&answer);
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example.com"));
}
