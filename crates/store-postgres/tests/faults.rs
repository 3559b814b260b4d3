//! Fault injection: a server that stops, refuses, hangs or is read-only. Operations fail with the right error,
//! nothing is applied twice or partially, and the engine recovers by itself.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod world;

use std::path::Path;
use std::time::Duration;

use latchkey_domain::codes::Purpose;
use latchkey_domain::profile::{Name, ProfilePatch};
use latchkey_store::{
    Accounts, Audit, CreateOutcome, EmailCodes, LimitedResult, ListMails, Outbox, Profiles, RequestEmailCode,
    Settings, StatisticsStore, Store, StoreError, StoreResult, UniqueKey, UpdateProfile,
    UpdateProfileOutcome,
};
use latchkey_store_postgres::{OptionsError, Postgres, PostgresOptions, PostgresStore};
use latchkey_store_suite::cluster::TestCluster;
use latchkey_store_suite::conformance::numbered::{account, at, code, event, key, mail, user_id};
use tokio::time::timeout;

use world::{Fixture, connect};

fn is_unavailable<T>(outcome: &StoreResult<T>) -> bool {
    matches!(outcome, Err(StoreError::Unavailable(_)))
}

/// Terminates every connection to the database except that of the test itself.
const TERMINATE: &str = "
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()";

async fn rename(store: &PostgresStore, name: &str) -> StoreResult<UpdateProfileOutcome> {
    let patch = ProfilePatch { name: Some(Name::parse(name).unwrap()), ..ProfilePatch::default() };
    let update = UpdateProfile {
        user_id: user_id(1),
        session: None,
        patch,
        if_version: None,
        create: None,
        now: at(1),
    };
    store.update_profile(update).await
}

async fn with_account(fixture: Fixture) -> Fixture {
    fixture.store.create_account(account(1)).await.unwrap();
    fixture
}

#[tokio::test(flavor = "multi_thread")]
async fn terminated_connections_are_replaced() {
    let fixture = with_account(Fixture::new().await).await;
    for round in 0..20 {
        let ((), user, renamed) = tokio::join!(
            fixture.run(TERMINATE),
            fixture.store.find_user(user_id(1)),
            rename(&fixture.store, "a")
        );
        for is_fault in
            [user.is_err() && !is_unavailable(&user), renamed.is_err() && !is_unavailable(&renamed)]
        {
            assert!(!is_fault, "round {round}: {user:?} {renamed:?}");
        }
        assert!(fixture.store.find_user(user_id(1)).await.unwrap().is_some(), "round {round}");
    }
    assert!(rename(&fixture.store, "b").await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn terminated_connections_lose_no_acknowledged_write() {
    let fixture = with_account(Fixture::new().await).await;
    let mut answered = Vec::new();
    for number in 0..300_u64 {
        if number % 10 == 0 {
            fixture.run(TERMINATE).await;
        }
        match fixture.store.record_event(event(1_000 + number)).await {
            Ok(()) => answered.push(event(1_000 + number).id),
            Err(error) => assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}"),
        }
    }
    assert!(answered.len() > 200, "{}", answered.len());
    for id in answered {
        let found = fixture.outside.query("SELECT 1 FROM audit_events WHERE id = $1", &[&id.as_uuid()]).await;
        assert_eq!(found.unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_takes_no_connections_is_unavailable_until_it_does() {
    let fixture = with_account(Fixture::new().await).await;
    let name = fixture.database.name();
    let cluster = TestCluster::shared();
    cluster.run(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS FALSE"));
    fixture.run(TERMINATE).await;
    assert!(is_unavailable(&fixture.store.check().await));
    assert!(is_unavailable(&rename(&fixture.store, "a").await));
    assert!(is_unavailable(&Postgres::connect(PostgresOptions::new(fixture.database.url())).await));

    cluster.run(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS TRUE"));
    fixture.store.check().await.unwrap();
    assert!(rename(&fixture.store, "a").await.is_ok());
}

#[tokio::test]
async fn unreachable_server_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let options = PostgresOptions::new(format!("postgres:///db?user=u&host={}", folder.path().display()));
    assert!(is_unavailable(&Postgres::connect(options.clone()).await));
    let store = Postgres::open(&options).unwrap();
    assert!(is_unavailable(&store.check().await));
    assert!(is_unavailable(&store.migrate().await));
}

#[tokio::test]
async fn second_host_serves_if_the_first_is_down() {
    let database = TestCluster::shared().database();
    let dead = tempfile::tempdir().unwrap();
    let socket = |path: &Path| path.display().to_string().replace('/', "%2F");
    let url = format!(
        "postgres://postgres@{},{}/{}",
        socket(dead.path()),
        socket(TestCluster::shared().folder()),
        database.name()
    );
    let store = Postgres::connect(PostgresOptions::new(url)).await.unwrap();
    store.check().await.unwrap();
}

#[tokio::test]
async fn read_only_server_is_unavailable_until_it_is_writable() {
    let fixture = with_account(Fixture::new().await).await;
    let name = fixture.database.name();
    let cluster = TestCluster::shared();
    cluster.run(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on"));
    fixture.run(TERMINATE).await;
    assert!(is_unavailable(&fixture.store.check().await), "a server that writes is asked for");
    let anyone = format!("{}&target_session_attrs=any", fixture.database.url());
    let reader = Postgres::connect(PostgresOptions::new(anyone)).await.unwrap();
    assert!(reader.find_user(user_id(1)).await.unwrap().is_some());
    assert!(is_unavailable(&reader.check().await));
    assert!(is_unavailable(&rename(&reader, "a").await));

    cluster.run(&format!("ALTER DATABASE {name} RESET default_transaction_read_only"));
    for store in [&fixture.store, &reader] {
        store.check().await.unwrap();
        assert!(rename(store, "a").await.is_ok());
    }
}

#[tokio::test]
async fn statement_timeout_leaves_no_trace() {
    let limit = Duration::from_millis(200);
    let fixture = with_account(
        Fixture::with(|options| PostgresOptions { statement_timeout: limit, pool_size: 1, ..options }).await,
    )
    .await;
    fixture.run("BEGIN; SELECT 1 FROM users FOR UPDATE").await;
    let held = timeout(Duration::from_secs(5), rename(&fixture.store, "a")).await.expect("an answer");
    assert!(is_unavailable(&held));
    fixture.run("COMMIT").await;
    assert!(rename(&fixture.store, "a").await.is_ok());
}

#[tokio::test]
async fn counts_may_take_longer_than_the_statement_timeout() {
    let limit = Duration::from_millis(200);
    let fixture = Fixture::with(|options| PostgresOptions { statement_timeout: limit, ..options }).await;
    let other = connect(fixture.database.url()).await;
    other.batch_execute("BEGIN; LOCK TABLE outbox IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let waited = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND wait_event_type = 'Lock' AND clock_timestamp() > query_start + interval '600 milliseconds'";

    let (counted, ()) = tokio::join!(fixture.store.count_statistics(at(0), at(1)), async {
        while fixture.one::<i64>(waited).await == 0 {}
        other.batch_execute("COMMIT").await.unwrap();
    });

    counted.unwrap();
    assert!(fixture.store.load_statistics(at(0)).await.unwrap().is_some());
}

#[tokio::test]
async fn pool_timeout_is_unavailable() {
    let wait = Duration::from_millis(100);
    let fixture = with_account(
        Fixture::with(|options| PostgresOptions { acquire_timeout: wait, pool_size: 1, ..options }).await,
    )
    .await;
    fixture.run("BEGIN; SELECT 1 FROM users FOR UPDATE").await;
    let (held, waited) = tokio::join!(rename(&fixture.store, "a"), async {
        let waited = fixture.store.shared_version().await;
        fixture.run("COMMIT").await;
        waited
    });
    assert!(is_unavailable(&waited));
    assert!(held.is_ok());
}

#[tokio::test]
async fn cancelled_operation_holds_no_locks() {
    let fixture = with_account(Fixture::new().await).await;
    let other = connect(fixture.database.url()).await;
    for _ in 0..20 {
        fixture.run("BEGIN; SELECT 1 FROM users FOR UPDATE").await;
        assert!(timeout(Duration::from_millis(20), rename(&fixture.store, "gone")).await.is_err());
        fixture.run("COMMIT").await;
        assert!(matches!(rename(&fixture.store, "a").await.unwrap(), UpdateProfileOutcome::Updated(_)));
    }
    // Waits for remaining row locks.
    other.batch_execute("SET lock_timeout = '5s'; SELECT 1 FROM users FOR UPDATE").await.unwrap();
    let name: String = fixture.one("SELECT name FROM profiles").await;
    assert_eq!(name, "a");
}

/// Makes writes to the outbox fail `times` times with a code. A sequence counts them, because no rollback resets
/// it.
async fn break_outbox(fixture: &Fixture, code: &str, times: u32) {
    fixture
        .run(&format!(
            "CREATE SEQUENCE tries;
            CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF nextval('tries') <= {times} THEN RAISE EXCEPTION 'as told' USING ERRCODE = '{code}'; END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER fail BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION fail()"
        ))
        .await;
}

async fn request(store: &PostgresStore) -> LimitedResult<()> {
    let email_code = code(1);
    let purpose = Purpose::ResetPassword;
    let (email, mail) = (key(1), mail(1));
    store
        .request_email_code(RequestEmailCode {
            email,
            purpose,
            takes: Vec::new(),
            email_code,
            mail,
            now: at(0),
        })
        .await
}

#[tokio::test]
async fn rolled_back_transaction_is_retried_and_applied_once() {
    for code in ["40001", "40P01"] {
        let fixture = with_account(Fixture::new().await).await;
        break_outbox(&fixture, code, 3).await;
        assert_eq!(request(&fixture.store).await.unwrap(), Ok(()));
        assert_eq!(fixture.store.list_mails(&ListMails::newest(None, 10)).await.unwrap().mails.len(), 1);
        assert_eq!(fixture.number("SELECT last_value FROM tries").await, 4);
    }
}

#[tokio::test]
async fn endless_conflicts_are_unavailable() {
    let fixture = with_account(Fixture::new().await).await;
    break_outbox(&fixture, "40001", 1_000).await;
    assert!(is_unavailable(&request(&fixture.store).await));
    assert_eq!(fixture.number("SELECT count(*) FROM codes").await, 0, "nothing by half");
}

#[tokio::test]
async fn other_server_faults_are_not_retried() {
    let fixture = with_account(Fixture::new().await).await;
    break_outbox(&fixture, "XX000", 1).await;
    assert!(matches!(request(&fixture.store).await, Err(StoreError::Driver(_))));
    assert!(request(&fixture.store).await.is_ok());
}

#[tokio::test]
async fn exhausted_resources_are_unavailable() {
    for code in ["53300", "53100", "57P03", "58030", "55P03"] {
        let fixture = with_account(Fixture::new().await).await;
        break_outbox(&fixture, code, 1).await;
        assert!(is_unavailable(&request(&fixture.store).await), "{code}");
        assert!(request(&fixture.store).await.is_ok(), "{code}");
    }
}

#[tokio::test]
async fn invalid_row_is_corrupt() {
    let fixture = with_account(Fixture::new().await).await;
    fixture.run("UPDATE users SET email = 'no address'").await;
    let outcome = fixture.store.find_user(user_id(1)).await;
    assert!(matches!(outcome, Err(StoreError::Corrupt { table: "users", column: "email" })), "{outcome:?}");
}

#[tokio::test]
async fn persistent_unique_violation_is_a_conflict() {
    let fixture = with_account(Fixture::new().await).await;
    // The policy hides the row from the first read, but not from the unique key.
    fixture
        .run(
            "CREATE ROLE blind LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO blind;
            ALTER TABLE users ENABLE ROW LEVEL SECURITY;
            CREATE POLICY write ON users FOR INSERT TO blind WITH CHECK (TRUE)",
        )
        .await;
    let url = fixture.database.url().replace("user=postgres", "user=blind");
    let blind = Postgres::connect(PostgresOptions::new(url)).await.unwrap();
    let outcome = blind.create_account(latchkey_store::NewAccount { id: user_id(2), ..account(1) }).await;
    assert!(matches!(outcome, Err(StoreError::Conflict(UniqueKey::UserEmail))), "{outcome:?}");
    fixture.run("DROP OWNED BY blind; DROP ROLE blind").await;
    assert_eq!(fixture.store.create_account(account(1)).await.unwrap(), CreateOutcome::EmailTaken);
}

#[test]
fn invalid_options_fail_at_once() {
    let options = PostgresOptions::new("postgres://u@db.example/db?sslmode=prefer");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let Err(StoreError::Driver(source)) = runtime.block_on(Postgres::connect(options)) else {
        panic!("a refusal")
    };
    assert!(matches!(source.downcast_ref(), Some(OptionsError::SslMode(_))));
}
