//! Pooler in transaction mode, which assigns the server connection to another client after each transaction.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use latchkey_domain::ids::UserId;
use latchkey_domain::profile::{Name, ProfilePatch};
use latchkey_store::{Accounts, Profiles, Sessions, StoreResult, UpdateProfile, UpdateProfileOutcome};
use latchkey_store_postgres::{Postgres, PostgresOptions, PostgresStore};
use latchkey_store_suite::cluster::TestCluster;
use latchkey_store_suite::conformance;
use latchkey_store_suite::conformance::numbered::{account, at, entry, key, session, user_id};

/// Clients, each with its own connections to the pooler.
const CLIENTS: u64 = 8;
/// Server connections shared by all clients.
const SERVER_CONNECTIONS: u32 = 2;
/// Repetitions per client and operation.
const ROUNDS: u64 = 100;

async fn rename(store: &PostgresStore, user_id: UserId, name: &str) -> StoreResult<bool> {
    change(store, user_id, ProfilePatch { name: Some(Name::parse(name).unwrap()), ..ProfilePatch::default() })
        .await
}

async fn change_nothing(store: &PostgresStore, user_id: UserId) -> StoreResult<bool> {
    change(store, user_id, ProfilePatch::default()).await
}

async fn change(store: &PostgresStore, user_id: UserId, patch: ProfilePatch) -> StoreResult<bool> {
    let update = UpdateProfile { user_id, session: None, patch, if_version: None, create: None, now: at(1) };
    match store.update_profile(update).await? {
        UpdateProfileOutcome::Updated(profile) => Ok(profile.user_id == user_id),
        other => panic!("{other:?}"),
    }
}

/// Reads and changes the client's own rows; every result must be its own.
async fn work(store: PostgresStore, number: u64) {
    let (id, key) = (user_id(number), key(number));
    store.create_account_and_enter(account(number), entry(session(10 * number))).await.unwrap();
    for round in 0..ROUNDS {
        let name = format!("client {number} round {round}");
        assert!(rename(&store, id, &name).await.unwrap());
        // A no-op is rolled back while the next statement is already in flight on the same connection.
        assert!(change_nothing(&store, id).await.unwrap());
        let (profile, user, live) = tokio::join!(
            store.find_profile(id),
            store.find_user_by_email(&key),
            store.find_live_session(session(10 * number).id, at(2)),
        );
        let profile = profile.unwrap().unwrap();
        assert_eq!((profile.user_id, profile.name.as_str()), (id, name.as_str()));
        assert_eq!(user.unwrap().unwrap().id, id);
        assert_eq!(live.unwrap().unwrap().user.profile.unwrap().name.as_str(), name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_clients_over_two_connections_get_their_own_answers() {
    let cluster = TestCluster::shared();
    let (pooler, database) = (cluster.pooler(SERVER_CONNECTIONS), cluster.database());
    let clients: Vec<_> = (1..=CLIENTS)
        .map(|number| {
            let pool_size = if number % 2 == 0 { 1 } else { 3 };
            let options = PostgresOptions { pool_size, ..PostgresOptions::new(pooler.url(&database)) };
            tokio::spawn(async move {
                work(Postgres::connect(options).await.unwrap(), number).await;
            })
        })
        .collect();
    for client in clients {
        client.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn races_end_behind_a_pooler_as_without_one() {
    let cluster = TestCluster::shared();
    let pooler = cluster.pooler(SERVER_CONNECTIONS);
    for case in conformance::cases().iter().filter(|case| case.name.starts_with("races::")) {
        let database = cluster.database();
        let store = Postgres::connect(PostgresOptions::new(pooler.url(&database))).await.unwrap();
        case.run(Arc::new(store)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_migrate_behind_a_pooler() {
    let cluster = TestCluster::shared();
    let (pooler, database) = (cluster.pooler(SERVER_CONNECTIONS), cluster.bare_database());
    let instances: Vec<_> = (0..5)
        .map(|_| {
            let options = PostgresOptions::new(pooler.url(&database));
            tokio::spawn(async move { Postgres::connect(options).await?.migrate().await })
        })
        .collect();
    for instance in instances {
        instance.await.unwrap().unwrap();
    }
    let store = Postgres::connect(PostgresOptions::new(pooler.url(&database))).await.unwrap();
    assert!(store.check_migrations().await.unwrap().is_empty());
}
