//! Tests of database faults at run time. Every response is right or 503 `STORAGE_UNAVAILABLE`, no acknowledged write is
//! lost, and the service recovers by itself. With `--nocapture` these tests print the recovery times.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use latchkey_testkit::postgres::{TestCluster, TestDatabase};
use latchkey_testkit::{Answer, Client, PASSWORD, Request, Session, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::binary::{Binary, Running, eventually};

/// Concurrent clients.
const CALLERS: usize = 6;
/// Minimum number of responses of each kind.
const ENOUGH: usize = 30;
/// Ends every other connection to the database.
const TERMINATE: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()";

/// Counters of the responses so far.
#[derive(Default)]
struct Stats {
    good: AtomicUsize,
    unavailable: AtomicUsize,
    is_over: AtomicBool,
}

impl Stats {
    /// Waits for this many more successful responses, and returns the duration.
    async fn more_good(&self, count: usize) -> Duration {
        let (from, started) = (self.good.load(Ordering::SeqCst), Instant::now());
        eventually("good answers", async || (self.good.load(Ordering::SeqCst) >= from + count).then_some(()))
            .await;
        started.elapsed()
    }

    async fn more_unavailable(&self, count: usize) {
        let from = self.unavailable.load(Ordering::SeqCst);
        eventually("refusals", async || {
            (self.unavailable.load(Ordering::SeqCst) >= from + count).then_some(())
        })
        .await;
    }

    /// Repeats a request until it succeeds. Before that, only 503 with `Retry-After` is allowed.
    async fn persist(&self, request: impl Fn() -> Request) -> Option<Answer> {
        loop {
            let answer = request().send().await;
            if answer.status < 400 {
                self.good.fetch_add(1, Ordering::SeqCst);
                return Some(answer);
            }
            assert_unavailable(&answer);
            self.unavailable.fetch_add(1, Ordering::SeqCst);
            if self.is_over.load(Ordering::SeqCst) {
                return None;
            }
            tokio::time::sleep(Duration::from_millis(20)).await; // a client that honours the wait
        }
    }
}

#[track_caller]
fn assert_unavailable(answer: &Answer) {
    answer.refused(503, "STORAGE_UNAVAILABLE");
    assert!(answer.number("retry-after") > 0);
}

/// Last acknowledged state of one client: its session and its bio.
struct Acknowledged {
    session: Session,
    bio: usize,
}

/// Reads, writes and refreshes in a loop until the load ends.
async fn work(anon: Client, session: Session, stats: Arc<Stats>) -> Acknowledged {
    let mut acknowledged = Acknowledged { session, bio: 0 };
    while !stats.is_over.load(Ordering::SeqCst) {
        let me = anon.clone().with_bearer(&acknowledged.session.access_token);
        let next = acknowledged.bio + 1;
        let change = json!({"bio": next.to_string()});
        if stats.persist(|| me.patch("/api/profiles/me", change.clone())).await.is_none() {
            break;
        }
        acknowledged.bio = next;
        let Some(read) = stats.persist(|| me.get("/api/profiles/me")).await else { break };
        assert_eq!(read.json()["bio"], change["bio"], "a write was lost");
        // A refresh with a lost response may be retried with the same token.
        let Some(refreshed) = stats.persist(|| anon.refresh(&acknowledged.session)).await else { break };
        acknowledged.session = Session::of(&refreshed);
    }
    acknowledged
}

/// Service under concurrent load.
struct Load {
    running: Running,
    stats: Arc<Stats>,
    callers: JoinSet<Acknowledged>,
}

impl Load {
    async fn on(database: &TestDatabase, change: impl FnOnce(Binary) -> Binary) -> Self {
        let running = change(Binary::new().on(database)).serve().await;
        let stats = Arc::new(Stats::default());
        let mut callers = JoinSet::new();
        for caller in 0..CALLERS {
            // Sign-ups come before any fault, because they are not retried.
            let email = format!("caller-{caller}@example.org");
            let signed_up = running.anon().sign_up(&email, PASSWORD).client_type("server").send().await;
            callers.spawn(work(running.anon(), Session::of(&signed_up), Arc::clone(&stats)));
        }
        stats.more_good(ENOUGH).await;
        Self { running, stats, callers }
    }

    /// Ends the load; asserts that everything acknowledged exists and that the log has no panic.
    async fn assert_nothing_lost(self) {
        self.stats.more_good(ENOUGH).await;
        self.stats.is_over.store(true, Ordering::SeqCst);
        for acknowledged in self.callers.join_all().await {
            let refreshed = Session::of(&self.running.anon().refresh(&acknowledged.session).send().await);
            let me = self.running.anon().with_bearer(&refreshed.access_token);
            let profile = me.get("/api/profiles/me").send().await.expect(200);
            let bio: usize = profile["bio"].as_str().unwrap_or("0").parse().unwrap();
            assert!(bio >= acknowledged.bio, "{bio} is older than {}", acknowledged.bio);
        }
        let output = self.running.stop().await;
        assert_eq!(output.code, Some(0), "{output:#?}");
        assert!(!output.err.contains("panic"), "{}", output.err);
    }
}

fn cluster(settings: &[&str]) -> TestCluster {
    TestCluster::start(settings).unwrap_or_else(|error| panic!("{error}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_and_restarted_server_loses_nothing_and_needs_no_service_restart() {
    let cluster = cluster(&[]);
    let database = cluster.database();
    let load = Load::on(&database, |binary| binary).await;

    for _ in 0..2 {
        cluster.halt();
        load.stats.more_unavailable(ENOUGH).await;
        assert_unavailable(&load.running.anon().get("/health/ready").send().await);
        load.running.anon().get("/health/live").send().await.expect(200);
        cluster.resume();
        let back = load.stats.more_good(1).await;
        println!("server killed: the first good answer {back:?} after it takes connections again");
    }

    // The result of the readiness check is cached for up to a second.
    eventually("the service is ready", async || {
        (load.running.anon().get("/health/ready").send().await.status == 200).then_some(())
    })
    .await;
    load.assert_nothing_lost().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_ended_under_load_are_reopened() {
    let database = TestCluster::shared().database();
    let load = Load::on(&database, |binary| binary).await;

    for _ in 0..10 {
        database.run(TERMINATE);
        let back = load.stats.more_good(1).await;
        println!("connections ended: the next good answer after {back:?}");
        load.stats.more_good(CALLERS).await;
    }

    load.assert_nothing_lost().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_only_server_causes_no_wrong_responses_and_is_used_again_when_it_writes() {
    let database = TestCluster::shared().database();
    let load = Load::on(&database, |binary| binary).await;
    let name = database.name();

    let cluster = TestCluster::shared();
    cluster.run(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on"));
    database.run(TERMINATE);
    load.stats.more_unavailable(ENOUGH).await;
    assert_unavailable(&load.running.anon().get("/health/ready").send().await);
    cluster.run(&format!("ALTER DATABASE {name} RESET default_transaction_read_only"));
    let back = load.stats.more_good(1).await;
    println!("read-only: the first good answer {back:?} after it writes again");

    load.assert_nothing_lost().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn read_only_server_serves_reads_and_refuses_writes() {
    let database = TestCluster::shared().database();
    let url = format!("storage.url={}&target_session_attrs=any", database.url());
    let running = Binary::new().set(&url).serve().await;
    let anon = running.anon();
    let session = Session::of(&anon.sign_up("ada@example.org", PASSWORD).send().await);

    let name = database.name();
    let cluster = TestCluster::shared();
    cluster.run(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on"));
    database.run(TERMINATE);

    let me = anon.clone().with_bearer(&session.access_token);
    me.get("/api/profiles/me").send().await.expect(200);
    assert_unavailable(&me.patch("/api/profiles/me", json!({"bio": "new"})).send().await);
    assert_unavailable(&anon.refresh(&session).send().await);
    assert_unavailable(&anon.sign_in("ada@example.org", PASSWORD).send().await);
    assert_unavailable(&anon.sign_out(&session).send().await);
    assert_unavailable(&anon.get("/health/ready").send().await);
    cluster.run(&format!("ALTER DATABASE {name} RESET default_transaction_read_only"));
    database.run(TERMINATE);
    anon.refresh(&session).send().await.expect(200);
}

/// Sends this many requests at once. Returns the number of successes; all others must be 503.
async fn storm(running: &Running, session: &Session, requests: usize) -> usize {
    let mut storm = JoinSet::new();
    for _ in 0..requests {
        let me = running.anon().with_bearer(&session.access_token);
        storm.spawn(async move { me.patch("/api/profiles/me", json!({"bio": "storm"})).send().await });
    }
    let answers = storm.join_all().await;
    let (good, bad): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 200);
    bad.iter().for_each(assert_unavailable);
    good.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn burst_beyond_the_pool_waits_or_gets_retry_after() {
    let database = TestCluster::shared().database();
    let binary = Binary::new().on(&database).set("storage.postgres.pool_size=2");
    let running = binary.set("storage.postgres.acquire_timeout=50ms").serve().await;
    let session = Session::of(&running.anon().sign_up("ada@example.org", PASSWORD).send().await);

    let good = storm(&running, &session, 200).await;

    assert!(good > 0);
    println!("storm beyond the pool: {good} of 200 good, the others 503");
    running.anon().refresh(&session).send().await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn burst_beyond_the_connections_of_the_server_gets_retry_after() {
    let cluster = cluster(&["max_connections=8", "superuser_reserved_connections=0"]);
    let database = cluster.database();
    let binary = Binary::new().on(&database).set("storage.postgres.pool_size=40");
    let running = binary.set("storage.postgres.acquire_timeout=1s").serve().await;
    let session = Session::of(&running.anon().sign_up("ada@example.org", PASSWORD).send().await);

    let good = storm(&running, &session, 200).await;

    assert!(good > 0);
    println!("storm beyond the server: {good} of 200 good, the others 503");
    running.anon().refresh(&session).send().await.expect(200);
}
