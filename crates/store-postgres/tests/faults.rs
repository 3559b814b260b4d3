//! A server that stops, refuses, hangs or only reads: operations say so, nothing is done twice or by half, and the
//! engine goes on by itself when the server does.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod world;

use std::path::Path;
use std::time::Duration;

use latchkey_domain::codes::Purpose;
use latchkey_domain::profile::{Name, ProfilePatch};
use latchkey_store::{
    Accounts, Audit, Challenges, CreateOutcome, Outbox, Profiles, RequestChallenge, RequestOutcome, Settings,
    Store, StoreError, StoreResult, UniqueKey, UpdateProfile, UpdateProfileOutcome,
};
use latchkey_store_postgres::{OptionsError, Postgres, PostgresOptions, PostgresStore};
use latchkey_store_suite::cluster::TestCluster;
use latchkey_store_suite::conformance::numbered::{account, at, code, event, key, mail, user_id};
use tokio::time::timeout;

use world::{Looked, connect};

fn is_unavailable<T>(outcome: &StoreResult<T>) -> bool {
    matches!(outcome, Err(StoreError::Unavailable(_)))
}

/// Ends every connection to the database but the one from outside.
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

async fn with_account(looked: Looked) -> Looked {
    looked.store.create_account(account(1)).await.unwrap();
    looked
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_the_server_ends_are_replaced() {
    let looked = with_account(Looked::new().await).await;
    for round in 0..20 {
        let ((), user, renamed) = tokio::join!(
            looked.run(TERMINATE),
            looked.store.find_user(user_id(1)),
            rename(&looked.store, "a")
        );
        for is_fault in
            [user.is_err() && !is_unavailable(&user), renamed.is_err() && !is_unavailable(&renamed)]
        {
            assert!(!is_fault, "round {round}: {user:?} {renamed:?}");
        }
        assert!(looked.store.find_user(user_id(1)).await.unwrap().is_some(), "round {round}");
    }
    assert!(rename(&looked.store, "b").await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_ended_connections_loses_no_answered_write() {
    let looked = with_account(Looked::new().await).await;
    let mut answered = Vec::new();
    for number in 0..300_u64 {
        if number % 10 == 0 {
            looked.run(TERMINATE).await;
        }
        match looked.store.record_event(event(1_000 + number)).await {
            Ok(()) => answered.push(event(1_000 + number).id),
            Err(error) => assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}"),
        }
    }
    assert!(answered.len() > 200, "{}", answered.len());
    for id in answered {
        let found = looked.outside.query("SELECT 1 FROM audit_events WHERE id = $1", &[&id.as_uuid()]).await;
        assert_eq!(found.unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_takes_no_connections_is_unavailable_until_it_does() {
    let looked = with_account(Looked::new().await).await;
    let name = looked.database.name();
    let cluster = TestCluster::shared();
    cluster.run(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS FALSE"));
    looked.run(TERMINATE).await;
    assert!(is_unavailable(&looked.store.check().await));
    assert!(is_unavailable(&rename(&looked.store, "a").await));
    assert!(is_unavailable(&Postgres::connect(PostgresOptions::new(looked.database.url())).await));

    cluster.run(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS TRUE"));
    looked.store.check().await.unwrap();
    assert!(rename(&looked.store, "a").await.is_ok());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let options = PostgresOptions::new(format!("postgres:///db?user=u&host={}", folder.path().display()));
    assert!(is_unavailable(&Postgres::connect(options.clone()).await));
    let store = Postgres::open(&options).unwrap();
    assert!(is_unavailable(&store.check().await));
    assert!(is_unavailable(&store.migrate().await));
}

#[tokio::test]
async fn the_second_host_serves_where_the_first_is_dead() {
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
async fn a_server_that_only_reads_is_unavailable_until_it_writes() {
    let looked = with_account(Looked::new().await).await;
    let name = looked.database.name();
    let cluster = TestCluster::shared();
    cluster.run(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on"));
    looked.run(TERMINATE).await;
    assert!(is_unavailable(&looked.store.check().await), "a server that writes is asked for");
    let anyone = format!("{}&target_session_attrs=any", looked.database.url());
    let reader = Postgres::connect(PostgresOptions::new(anyone)).await.unwrap();
    assert!(reader.find_user(user_id(1)).await.unwrap().is_some());
    assert!(is_unavailable(&reader.check().await));
    assert!(is_unavailable(&rename(&reader, "a").await));

    cluster.run(&format!("ALTER DATABASE {name} RESET default_transaction_read_only"));
    for store in [&looked.store, &reader] {
        store.check().await.unwrap();
        assert!(rename(store, "a").await.is_ok());
    }
}

#[tokio::test]
async fn a_statement_that_takes_too_long_is_given_up_and_harms_nothing() {
    let limit = Duration::from_millis(200);
    let looked = with_account(
        Looked::with(|options| PostgresOptions { statement_timeout: limit, pool_size: 1, ..options }).await,
    )
    .await;
    looked.run("BEGIN; SELECT 1 FROM users FOR UPDATE").await;
    let held = timeout(Duration::from_secs(5), rename(&looked.store, "a")).await.expect("an answer");
    assert!(is_unavailable(&held));
    looked.run("COMMIT").await;
    assert!(rename(&looked.store, "a").await.is_ok());
}

#[tokio::test]
async fn who_waits_too_long_for_a_connection_hears_so() {
    let wait = Duration::from_millis(100);
    let looked = with_account(
        Looked::with(|options| PostgresOptions { acquire_timeout: wait, pool_size: 1, ..options }).await,
    )
    .await;
    looked.run("BEGIN; SELECT 1 FROM users FOR UPDATE").await;
    let (held, waited) = tokio::join!(rename(&looked.store, "a"), async {
        let waited = looked.store.shared_version().await;
        looked.run("COMMIT").await;
        waited
    });
    assert!(is_unavailable(&waited));
    assert!(held.is_ok());
}

#[tokio::test]
async fn an_operation_that_nobody_waits_for_any_more_holds_nothing() {
    let looked = with_account(Looked::new().await).await;
    let other = connect(looked.database.url()).await;
    for _ in 0..20 {
        looked.run("BEGIN; SELECT 1 FROM users FOR UPDATE").await;
        assert!(timeout(Duration::from_millis(20), rename(&looked.store, "gone")).await.is_err());
        looked.run("COMMIT").await;
        assert!(matches!(rename(&looked.store, "a").await.unwrap(), UpdateProfileOutcome::Updated(_)));
    }
    // Waits for whoever still holds a row.
    other.batch_execute("SET lock_timeout = '5s'; SELECT 1 FROM users FOR UPDATE").await.unwrap();
    let name: String = looked.one("SELECT name FROM profiles").await;
    assert_eq!(name, "a");
}

/// Every write to the outbox fails so often with a code, counted by a sequence, which no rollback takes back.
async fn break_outbox(looked: &Looked, code: &str, times: u32) {
    looked
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

async fn request(store: &PostgresStore) -> StoreResult<RequestOutcome> {
    let challenge = code(1);
    let purpose = Purpose::ResetPassword;
    let (email, mail) = (key(1), mail(1));
    store
        .request_challenge(RequestChallenge {
            email,
            purpose,
            takes: Vec::new(),
            challenge,
            mail,
            now: at(0),
        })
        .await
}

#[tokio::test]
async fn what_the_server_takes_back_for_another_is_done_again_once() {
    for code in ["40001", "40P01"] {
        let looked = with_account(Looked::new().await).await;
        break_outbox(&looked, code, 3).await;
        assert_eq!(request(&looked.store).await.unwrap(), RequestOutcome::Accepted);
        assert_eq!(looked.store.list_mails(None, 10).await.unwrap().len(), 1);
        assert_eq!(looked.number("SELECT last_value FROM tries").await, 4);
    }
}

#[tokio::test]
async fn what_never_comes_through_is_unavailable_in_the_end() {
    let looked = with_account(Looked::new().await).await;
    break_outbox(&looked, "40001", 1_000).await;
    assert!(is_unavailable(&request(&looked.store).await));
    assert_eq!(looked.number("SELECT count(*) FROM codes").await, 0, "nothing by half");
}

#[tokio::test]
async fn other_faults_of_the_server_are_told_once() {
    let looked = with_account(Looked::new().await).await;
    break_outbox(&looked, "XX000", 1).await;
    assert!(matches!(request(&looked.store).await, Err(StoreError::Driver(_))));
    assert!(request(&looked.store).await.is_ok());
}

#[tokio::test]
async fn resources_that_are_used_up_are_unavailable() {
    for code in ["53300", "53100", "57P03", "58030", "55P03"] {
        let looked = with_account(Looked::new().await).await;
        break_outbox(&looked, code, 1).await;
        assert!(is_unavailable(&request(&looked.store).await), "{code}");
        assert!(request(&looked.store).await.is_ok(), "{code}");
    }
}

#[tokio::test]
async fn a_row_that_no_row_may_be_is_corrupt() {
    let looked = with_account(Looked::new().await).await;
    looked.run("UPDATE users SET email = 'no address'").await;
    let outcome = looked.store.find_user(user_id(1)).await;
    assert!(matches!(outcome, Err(StoreError::Corrupt { table: "users", column: "email" })), "{outcome:?}");
}

#[tokio::test]
async fn a_key_that_stays_taken_is_a_conflict() {
    let looked = with_account(Looked::new().await).await;
    // Hides the row from whoever looks first, but not from the unique key.
    looked
        .run(
            "CREATE ROLE blind LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO blind;
            ALTER TABLE users ENABLE ROW LEVEL SECURITY;
            CREATE POLICY write ON users FOR INSERT TO blind WITH CHECK (TRUE)",
        )
        .await;
    let url = looked.database.url().replace("user=postgres", "user=blind");
    let blind = Postgres::connect(PostgresOptions::new(url)).await.unwrap();
    let outcome = blind.create_account(latchkey_store::NewAccount { id: user_id(2), ..account(1) }).await;
    assert!(matches!(outcome, Err(StoreError::Conflict(UniqueKey::UserEmail))), "{outcome:?}");
    looked.run("DROP OWNED BY blind; DROP ROLE blind").await;
    assert_eq!(looked.store.create_account(account(1)).await.unwrap(), CreateOutcome::EmailTaken);
}

#[test]
fn options_that_cannot_be_used_are_told_at_once() {
    let options = PostgresOptions::new("postgres://u@db.example/db?sslmode=prefer");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let Err(StoreError::Driver(source)) = runtime.block_on(Postgres::connect(options)) else {
        panic!("a refusal")
    };
    assert!(matches!(source.downcast_ref(), Some(OptionsError::SslMode(_))));
}
