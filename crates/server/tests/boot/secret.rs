//! Tests of `latchkey secret rotate`: what works under the new secret, on both engines, and what is refused.

use std::process::Stdio;
use std::time::Duration;

use latchkey_service::clock::{Clock, SystemClock};
use latchkey_store_suite::cluster::{TestCluster, TestDatabase};
use latchkey_testkit::{Client, PASSWORD, Session, Value, challenge_id, json, recovery_codes, totp_code};
use rustix::process::Signal;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::backup::FILE;
use crate::binary::{Binary, CommandOutput, Running, eventually, names_in};

const OLD: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const NEW: &str = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752";
const ADMIN_KEY: &str = "5a9c3f0d7e1b8264c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b7";
const NEXT: &str = "LATCHKEY__SERVER__SECRET_NEXT";

fn binary() -> Binary {
    Binary::new().set("server.public_url=http://localhost:8700").set(&format!("admin.api_key={ADMIN_KEY}"))
}

fn under(binary: &Binary, secret: &str) -> Binary {
    binary.clone().variable("LATCHKEY__SERVER__SECRET", secret)
}

async fn rotate(binary: &Binary) -> CommandOutput {
    under(binary, OLD).variable(NEXT, NEW).run(&["secret", "rotate"]).await
}

/// An account with two-step sign-in and its session, and an identity provider that an admin configured.
struct World {
    session: Session,
    /// Secret of the authenticator app.
    app: String,
    codes: Vec<String>,
}

async fn furnish(binary: &Binary, running: &Running) -> World {
    let create = ["user", "create", "ada@example.org", "--verified"];
    under(binary, OLD).run_with_input(&create, PASSWORD).await.good();
    let session = Session::of(&running.anon().sign_in("ada@example.org", PASSWORD).send().await);
    let ada = running.anon().with_bearer(&session.access_token);
    let begun = ada.post("/api/auth/factors/totp", json!({"name": "My phone"})).send().await.expect(200);
    let app = begun["secret"].as_str().unwrap().to_owned();
    let code = totp_code(&app, SystemClock.now().as_seconds());
    let confirmed = ada.confirm_totp(begun["factorId"].as_str().unwrap(), &code).send().await;
    let codes = recovery_codes(&confirmed.expect(200));
    let provider = json!({"provider": "github", "clientId": "id", "clientSecret": "secret"});
    let admin = running.anon().with_bearer(ADMIN_KEY);
    admin.post("/api/auth/oauth/configs", provider).send().await.expect(200);
    World { session: Session::of(&confirmed), app, codes }
}

/// Signs in with the password and this answer to the challenge.
async fn sign_in(running: &Running, kind: &str, answer: &str) {
    let challenge = challenge_id(&running.anon().sign_in("ada@example.org", PASSWORD).send().await);
    let _session = Session::of(&running.anon().answer(&challenge, kind, answer).send().await);
}

/// Asserts that everything that was made under an earlier secret works. `number` is that of the unused recovery code.
async fn assert_all_works(running: &Running, world: &World, number: usize) {
    sign_in(running, "recovery_code", &world.codes[number]).await;
    let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
    let start = running.anon().get("/api/auth/oauth/github").query("redirect_uri", "http://localhost:3000/");
    let start = start.query("code_challenge", challenge).send().await;
    let url = start.expect(200)["authUrl"].as_str().unwrap().to_owned();
    assert!(url.starts_with("https://github.com/login/oauth/") && url.contains("client_id=id"), "{url}");
}

async fn everything_works_under_the_new_secret(binary: Binary) {
    let running = under(&binary, OLD).serve().await;
    let world = furnish(&binary, &running).await;
    running.stop().await;

    let rotated = rotate(&binary).await;

    assert!(rotated.good().contains("values were sealed anew"), "{rotated:?}");
    let running = under(&binary, NEW).serve().await;
    assert_all_works(&running, &world, 0).await;
    let later = SystemClock.now().as_seconds() + 30; // the code of this step was used at the confirmation
    sign_in(&running, "totp", &totp_code(&world.app, later)).await;
    running.anon().refresh(&world.session).send().await.expect(200);
    running.stop().await;
    under(&binary, OLD).run(&[]).await.refused(&["server.secret: it does not open the database"]);
    let audit = under(&binary, NEW).run(&["audit", "--kind", "secret_rotated"]).await;
    assert!(audit.good().contains("secret_rotated"), "{audit:?}");
}

fn on(binary: Binary) -> (Binary, TestDatabase) {
    let database = TestCluster::shared().bare_database();
    (binary.on(&database), database)
}

#[tokio::test]
async fn everything_works_under_the_new_secret_on_sqlite() {
    everything_works_under_the_new_secret(binary()).await;
}

#[tokio::test]
async fn everything_works_under_the_new_secret_on_postgresql() {
    let (binary, _database) = on(binary());
    everything_works_under_the_new_secret(binary).await;
}

#[tokio::test]
async fn rotation_that_finds_nothing_to_do_is_no_event() {
    let binary = binary();
    under(&binary, OLD).serve().await.stop().await;
    rotate(&binary).await.good();

    let again = rotate(&binary).await;

    assert!(again.good().contains("0 values were sealed anew"), "{again:?}");
    let audit = under(&binary, NEW).run(&["audit", "--kind", "secret_rotated"]).await;
    assert_eq!(audit.good().matches("secret_rotated").count(), 1, "{audit:?}");
}

#[tokio::test]
async fn swapped_secrets_are_refused_and_cost_no_code() {
    let binary = binary();
    let running = under(&binary, OLD).serve().await;
    let world = furnish(&binary, &running).await;
    running.stop().await;

    let swapped = under(&binary, NEW).variable(NEXT, OLD).run(&["secret", "rotate"]).await;

    assert_eq!(swapped.code, Some(1), "{swapped:?}");
    swapped.refused(&["server.secret: it does not open the database", "likely swapped: exchange them"]);
    let running = under(&binary, OLD).serve().await;
    assert_all_works(&running, &world, 0).await;
    running.stop().await;
    rotate(&binary).await.good();
    let running = under(&binary, NEW).serve().await;
    assert_all_works(&running, &world, 1).await;
    running.stop().await;
    // The new secret is the database's now, and this one never was.
    let done = under(&binary, ADMIN_KEY).variable(NEXT, NEW).run(&["secret", "rotate"]).await;
    done.refused(&["this rotation is likely done: make server.secret_next the value of server.secret"]);
}

#[tokio::test]
async fn second_rotation_carries_on_what_the_first_one_kept() {
    let binary = binary();
    let running = under(&binary, OLD).serve().await;
    let world = furnish(&binary, &running).await;
    running.stop().await;
    rotate(&binary).await.good();

    let third = "ab34".repeat(8) + &OLD[..32];
    under(&binary, NEW).variable(NEXT, &third).run(&["secret", "rotate"]).await.good();

    let running = under(&binary, &third).serve().await;
    assert_all_works(&running, &world, 0).await;
}

/// Fills the table of sign-ins at providers with values that no secret opens, so that a rotation takes a while.
fn fill(binary: &Binary) {
    let file = rusqlite::Connection::open(binary.path(FILE)).unwrap();
    let sql = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 40000)
        INSERT INTO oauth_flows (state_hash, provider, code_challenge, redirect_to, sealed, created_at, expires_at)
        SELECT randomblob(32), 'google', randomblob(32), 'http://localhost/', randomblob(60), 0, 9000000000000 FROM n";
    file.execute(sql, []).unwrap();
}

/// Begins a rotation and kills it when a part of the values is sealed anew.
async fn begin_and_kill(binary: &Binary) {
    let mut first = under(binary, OLD).variable(NEXT, NEW).command(&["secret", "rotate"]);
    let mut first = first.stdin(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(first.stdout.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.starts_with("Secrets of identity providers: ") {
            break; // the sign-ins at providers are next
        }
    }
    first.kill().await.unwrap();
}

/// Database whose rotation was killed.
async fn half_rotated() -> Binary {
    let binary = binary();
    under(&binary, OLD).serve().await.stop().await;
    fill(&binary);
    begin_and_kill(&binary).await;
    binary
}

#[tokio::test]
async fn no_backup_is_made_while_a_rotation_is_unfinished() {
    let binary = half_rotated().await;

    let output = under(&binary, OLD).run(&["backup", "--out", "copy.db"]).await;

    output.refused(&["server.secret is being replaced", "latchkey secret rotate", "then back up"]);
    assert!(!binary.path("copy.db").exists());
}

#[tokio::test]
async fn copy_of_an_unfinished_rotation_needs_both_secrets() {
    let binary = half_rotated().await;
    std::fs::copy(binary.path(FILE), binary.path("copy.db")).unwrap();
    std::fs::copy(binary.path(&format!("{FILE}-wal")), binary.path("copy.db-wal")).unwrap();
    rusqlite::Connection::open(binary.path("copy.db"))
        .unwrap()
        .pragma_update(None, "journal_mode", "DELETE")
        .unwrap();
    let old = under(&binary, OLD);

    let restored = old.run(&["restore", "copy.db", "--to", "new.db", "--force"]).await;

    restored.refused(&["the old secret and the new one", "latchkey secret rotate"]);
    assert!(!restored.err.contains("cannot start"), "{restored:?}");
    assert!(!binary.path("new.db").exists());
}

#[tokio::test]
async fn killed_rotation_goes_on_and_no_service_starts_meanwhile() {
    let binary = binary();
    let running = under(&binary, OLD).serve().await;
    let world = furnish(&binary, &running).await;
    running.stop().await;
    fill(&binary);
    begin_and_kill(&binary).await;

    let meanwhile = [under(&binary, OLD).run(&[]).await, under(&binary, NEW).run(&[]).await];
    let command = under(&binary, OLD).run(&["user", "list"]).await;
    let checked = under(&binary, OLD).run(&["config", "check"]).await;
    let others = [
        under(&binary, OLD).variable(NEXT, ADMIN_KEY).run(&["secret", "rotate"]).await,
        under(&binary, ADMIN_KEY).variable(NEXT, NEW).run(&["secret", "rotate"]).await,
    ];
    let second = rotate(&binary).await;

    for start in meanwhile {
        start.refused(&["server.secret: its replacement is unfinished", "latchkey secret rotate"]);
    }
    command.refused(&["latchkey: server.secret: its replacement is unfinished"]);
    assert_eq!(checked.code, Some(1), "{checked:?}");
    assert!(
        checked.out.contains("- server.secret: its replacement is unfinished; finish it by"),
        "{checked:?}"
    );
    for other in others {
        other.refused(&["an earlier rotation is unfinished, and its two secrets are not these"]);
    }
    assert!(second.good().contains("40000 values are opened by neither secret"), "{second:?}");
    let running = under(&binary, NEW).serve().await;
    assert_all_works(&running, &world, 0).await;
}

#[tokio::test]
async fn rotation_is_refused_while_a_service_has_the_file_open() {
    let binary = binary();
    let _running = under(&binary, OLD).serve().await;

    rotate(&binary).await.refused(&["is open in another process", "stop the service first"]);
}

/// Waits until an instance has reported itself.
async fn reported(database: &TestDatabase) {
    let is_there = || database.rows().iter().any(|row| row.starts_with("instances"));
    eventually("the instance reports itself", async || is_there().then_some(())).await;
}

#[tokio::test]
async fn rotation_is_refused_while_an_instance_runs_on_postgresql() {
    let (binary, database) = on(binary());
    let running = under(&binary, OLD).serve().await;
    reported(&database).await;

    let beside = rotate(&binary).await;

    beside.refused(&[
        "server.secret: the service runs on this database (instance ",
        "Stop all instances first",
    ]);
    running.anon().get("/health/ready").send().await.expect(200);
    running.stop().await;
    under(&binary, OLD).serve().await.stop().await;
    rotate(&binary).await.good();
}

#[tokio::test]
async fn killed_instance_counts_until_it_was_not_seen_for_minutes() {
    let (binary, database) = on(binary());
    let running = under(&binary, OLD).serve().await;
    reported(&database).await;
    running.kill().await;

    let early = rotate(&binary).await;
    database.run("UPDATE instances SET seen_at = seen_at - 181000");
    let late = rotate(&binary).await;

    early.refused(&["One that was killed counts as running", "3 minutes", "run the command again in 1"]);
    late.good();
}

/// Begins to set up two-step sign-in until the service refuses. Returns the number of acknowledged secrets, each of which is
/// sealed.
async fn seal_until_refused(owner: Client) -> usize {
    let mut acknowledged = 0;
    loop {
        let begun = owner.post("/api/auth/factors/totp", json!({"name": "My phone"})).try_send().await;
        match begun.map(|answer| answer.status) {
            Ok(200) => acknowledged += 1,
            _ => return acknowledged,
        }
        // Slower than a pass over all values, so that a pass finds nothing while the instance still writes.
        sleep(Duration::from_millis(60)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instance_that_started_between_stops_and_loses_nothing() {
    // Without notifications the instance notices at its next poll, as late as it can.
    let (binary, database) = on(binary().set("storage.postgres.listen=false"));
    let running = under(&binary, OLD).serve().await;
    let mut writers = JoinSet::new();
    for number in 0..2 {
        let email = format!("u{number}@example.org");
        under(&binary, OLD).run_with_input(&["user", "create", &email, "--verified"], PASSWORD).await.good();
        let session = Session::of(&running.anon().sign_in(&email, PASSWORD).send().await);
        writers.spawn(seal_until_refused(running.anon().with_bearer(&session.access_token)));
    }
    reported(&database).await;
    // As if it had read the database just before the rotation began, and not reported itself yet.
    database.run("DELETE FROM instances");

    rotate(&binary).await.good();

    let acknowledged: usize = writers.join_all().await.into_iter().sum();
    let ended = running.ended().await;
    assert!(acknowledged > 0 && ended.err.contains("sealed under another server.secret"), "{ended:?}");
    assert_eq!(ended.code, Some(1), "a unit with Restart=on-failure starts it again: {ended:?}");
    assert!(ended.err.contains("latchkey: server.secret: it was replaced"), "{ended:?}");
    assert!(!ended.err.contains("SIGTERM"), "nobody sent a signal: {ended:?}");
    let third = "ab34".repeat(8) + &OLD[..32];
    let again = under(&binary, NEW).variable(NEXT, &third).run(&["secret", "rotate", "--json"]).await;
    let again: Value = serde_json::from_str(again.good()).unwrap();
    assert_eq!(again["unreadable"], 0, "of {acknowledged} acknowledged secrets");
    under(&binary, &third).serve().await;
}

#[tokio::test]
async fn wrong_or_equal_or_missing_secrets_change_nothing() {
    let binary = binary();
    under(&binary, OLD).serve().await.stop().await;

    let wrong = under(&binary, NEW).variable(NEXT, ADMIN_KEY).run(&["secret", "rotate"]).await;
    let equal = under(&binary, OLD).variable(NEXT, OLD).run(&["secret", "rotate"]).await;
    let missing = under(&binary, OLD).run(&["secret", "rotate"]).await;
    let typed =
        under(&binary, OLD).set(&format!("server.secret_next={NEW}")).run(&["secret", "rotate"]).await;

    wrong.refused(&["server.secret: it does not open all signing keys"]);
    equal.refused(&["both secrets are the same"]);
    missing.refused(&["server.secret_next", "not set"]);
    typed.refused(&["server.secret_next", "on the command line"]);
    under(&binary, OLD).serve().await;
}

#[tokio::test]
async fn secret_that_is_replaced_during_the_delay_of_a_stop_ends_it() {
    let (binary, database) = on(binary().set("server.stop_delay=1h"));
    let running = under(&binary, OLD).serve().await;
    reported(&database).await;
    database.run("DELETE FROM instances"); // as if it had not reported itself yet
    running.signal(Signal::TERM);
    let ready = async || (running.anon().get("/health/ready").send().await.status == 503).then_some(());
    eventually("it is not ready", ready).await;

    rotate(&binary).await.good();

    let ended = running.ended().await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("latchkey: server.secret: it was replaced"), "{ended:?}");
}

#[tokio::test]
async fn generated_secret_is_replaced_in_its_file() {
    let binary = binary();
    binary.serve().await.stop().await;
    let old_secret = binary.read("latchkey-data/server-secret");

    let rotated = binary.clone().variable(NEXT, NEW).run(&["secret", "rotate"]).await;

    assert!(rotated.good().contains("server-secret holds the new secret now"), "{rotated:?}");
    let names = names_in(&binary.path("latchkey-data"));
    let old = names.iter().find(|name| name.starts_with("server-secret.until-")).unwrap();
    assert_eq!(binary.read(&format!("latchkey-data/{old}")), old_secret, "earlier backups need it");
    assert_eq!(binary.read("latchkey-data/server-secret"), NEW);
    binary.serve().await;
}
