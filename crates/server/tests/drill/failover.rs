//! Drill: failover under load. The primary is killed and its standby is promoted. No instance is restarted, no response
//! is wrong, and no acknowledged write is lost. Then the new primary is read-only for a while.

use std::sync::Arc;
use std::time::Duration;

use latchkey_store_suite::cluster::{TestCluster, TestDatabase, TestStandby};
use latchkey_testkit::{Client, PASSWORD};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::binary::{Binary, Running, eventually};
use crate::load::{Account, Caller};
use crate::record::Record;

const CALLERS: usize = 8;
const PRIMARY_PORT: u16 = 5501;
const STANDBY_PORT: u16 = 5502;
/// Duration of the load in each phase of the drill.
const PHASE: Duration = Duration::from_secs(3);
/// Number of acknowledged writes after which an instance counts as recovered.
const ENOUGH: usize = 20;
/// Maximum duration of the drill.
const LIMIT: Duration = Duration::from_secs(110);

/// Settings for durability, which other test clusters switch off.
const DURABLE: &[&str] = &["fsync=on", "synchronous_commit=on"];

/// Statement that fails until commits wait for the standby. Before that, a promotion could lose commits.
const IS_SYNCHRONOUS: &str = "
    DO $$ BEGIN
        IF NOT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync') THEN
            RAISE EXCEPTION 'the standby does not follow';
        END IF;
    END $$";

/// A primary with a synchronous standby.
struct Pair {
    primary: TestCluster,
    standby: TestStandby,
    database: TestDatabase,
}

impl Pair {
    fn start() -> Self {
        let port = format!("port={PRIMARY_PORT}");
        let settings: Vec<&str> = DURABLE.iter().copied().chain([port.as_str()]).collect();
        let primary = TestCluster::start(&settings).unwrap();
        let database = primary.database();
        let standby = primary.standby(STANDBY_PORT, DURABLE).unwrap();
        primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
        primary.run("SELECT pg_reload_conf()");
        Self { primary, standby, database }
    }

    /// Database URL that names both servers.
    fn url(&self) -> String {
        format!(
            "postgres:///{}?host={},{}&port={PRIMARY_PORT},{STANDBY_PORT}&user=postgres&target_session_attrs=read-write",
            self.database.name(),
            self.primary.folder().display(),
            self.standby.folder().display(),
        )
    }
}

/// Waits until every instance has acknowledged enough writes since a moment, and prints the time of the first one.
async fn recovered(record: &Record, instances: usize, since: Instant, after: &str) {
    eventually("every instance writes", async || {
        (0..instances).all(|at| record.writes_since(at, since) >= ENOUGH).then_some(())
    })
    .await;
    for at in 0..instances {
        let first = record.first_write(at, since).unwrap();
        println!("instance {at}: first write {:.0} ms after {after}", first.as_secs_f64() * 1000.0);
    }
}

/// Asserts that all requests fail for a while. Reads must fail too, because no response may come from memory.
async fn outage(record: &Record) {
    let before = record.count(503);
    sleep(PHASE).await;
    assert!(record.count(503) > before, "the load did not notice");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failover_loses_nothing_and_needs_no_restart() {
    timeout(LIMIT, drill()).await.expect("the drill takes too long");
}

async fn drill() {
    let pair = Pair::start();
    let binary = Binary::new()
        .set("server.public_url=http://localhost:8700")
        .set(&format!("storage.url={}", pair.url()));
    let instances = [binary.serve().await, binary.serve().await];
    let clients: Vec<Client> = instances.iter().map(Running::anon).collect();
    let record = Arc::new(Record::new());
    let (stop, stopped) = watch::channel(false);
    let mut callers = JoinSet::new();
    for number in 0..CALLERS {
        callers.spawn(Caller::new(number, clients.clone(), Arc::clone(&record), stopped.clone()).run());
    }
    let start = Instant::now();
    recovered(&record, instances.len(), start, "the start of the load").await;
    sleep(PHASE).await;

    fail_over(&pair, &record, instances.len()).await;
    sleep(PHASE).await;
    only_read_for_a_while(&pair, &record, instances.len()).await;
    sleep(PHASE).await;

    stop.send(true).unwrap();
    let accounts: Vec<Account> = callers.join_all().await.into_iter().flatten().collect();
    record.close();
    println!("{} users", accounts.len());
    for account in &accounts {
        assert_kept(&clients[account.email.len() % 2], account).await;
    }
    let admin = clients[0].clone().with_bearer(&binary.read("latchkey-data/admin-key"));
    assert_none_twice(&admin, &accounts).await;
    for running in instances {
        running.stop().await;
    }
}

async fn fail_over(pair: &Pair, record: &Record, instances: usize) {
    pair.database.run(IS_SYNCHRONOUS);
    let killed = Instant::now();
    pair.primary.crash().unwrap();
    outage(record).await;
    let promoting = Instant::now();
    pair.standby.promote().unwrap();
    let promoted = Instant::now();
    println!(
        "the primary was killed; the standby was promoted {:.1} s later, which took {:.0} ms",
        (promoting - killed).as_secs_f64(),
        (promoted - promoting).as_secs_f64() * 1000.0
    );
    recovered(record, instances, promoting, "the promotion began").await;
}

/// Makes the new primary read-only for a while, as after a failback or with a full disk.
async fn only_read_for_a_while(pair: &Pair, record: &Record, instances: usize) {
    pair.standby.run("ALTER SYSTEM SET default_transaction_read_only = on");
    pair.standby.run("SELECT pg_reload_conf()");
    outage(record).await;
    pair.standby.run("ALTER SYSTEM RESET default_transaction_read_only");
    let writable = Instant::now();
    pair.standby.run("SELECT pg_reload_conf()");
    recovered(record, instances, writable, "the server writes again").await;
}

/// Asserts that everything acknowledged of a user exists.
async fn assert_kept(client: &Client, account: &Account) {
    let Some(user_id) = &account.user_id else { return };
    let session = client.sign_in(&account.email, PASSWORD).send().await.expect(200);
    assert_eq!(session["user"]["id"], user_id.as_str(), "{}", account.email);
    let token = session["accessToken"].as_str().unwrap();
    let profile = client.get("/api/profiles/me").bearer(token).send().await.expect(200);
    let bio = profile["bio"].as_str().map_or(0, |bio| bio.trim_start_matches("bio ").parse::<u32>().unwrap());
    assert!(bio >= account.bio && bio <= account.edits_sent, "{}: {bio}", account.email);
    if let Some(signed_out) = &account.signed_out {
        client
            .get("/api/profiles/me")
            .bearer(&signed_out.access_token)
            .send()
            .await
            .refused(401, "AUTH_UNAUTHORIZED");
        assert_eq!(client.refresh(signed_out).send().await.status, 401, "{}", account.email);
    }
    if let Some(session) = &account.session {
        client.refresh(session).send().await.expect(200);
    }
}

/// Asserts that the number of users matches the acknowledged sign-ups, and that no address exists twice.
async fn assert_none_twice(admin: &Client, accounts: &[Account]) {
    let acknowledged = accounts.iter().filter(|account| account.user_id.is_some()).count();
    let answer = admin.get("/api/auth/users?limit=1").send().await.expect(200);
    let total = usize::try_from(answer["pagination"]["total"].as_u64().unwrap()).unwrap();
    assert!(total >= acknowledged && total <= accounts.len(), "{acknowledged} {total} {}", accounts.len());
}
