//! A timed-out change that reaches the server after a later one was acknowledged: it must not take effect.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Duration;

use latchkey_domain::identity::{ProviderKey, ProviderKind};
use latchkey_domain::ids::KeyId;
use latchkey_store::{
    NewSigningKey, OAuthProviders, SettingChange, Settings, SigningKeys, StoreError, StoreResult,
    StoredProvider,
};
use latchkey_store_postgres::{Postgres, PostgresOptions, PostgresStore};
use latchkey_store_suite::cluster::holding_proxy::HoldingProxy;
use latchkey_store_suite::cluster::{TestCluster, TestDatabase};
use latchkey_store_suite::conformance::numbered::{at, event};
use tempfile::TempDir;

/// Two stores on one database, the first behind a proxy that can hold back its requests.
struct Two {
    stuck: PostgresStore,
    free: PostgresStore,
    proxy: HoldingProxy,
    _guards: (TestDatabase, TempDir),
}

impl Two {
    async fn new() -> Self {
        let cluster = TestCluster::shared();
        let database = cluster.database();
        let folder = tempfile::tempdir().unwrap();
        let proxy = HoldingProxy::start(folder.path(), cluster.folder());
        let url = database
            .url()
            .replace(&cluster.folder().display().to_string(), &folder.path().display().to_string());
        let options = PostgresOptions {
            pool_size: 1,
            statement_timeout: Duration::from_millis(200),
            ..PostgresOptions::new(url)
        };
        let stuck = Postgres::connect(options).await.unwrap();
        let free = Postgres::connect(PostgresOptions::new(database.url())).await.unwrap();
        Self { stuck, free, proxy, _guards: (database, folder) }
    }
}

/// Lets a change time out after a number of requests, makes a later one, and releases the first.
macro_rules! late {
    ($two:ident, $questions:expr, $earlier:expr, $later:expr) => {{
        $two.proxy.hold_after($questions);
        let earlier = $earlier.await;
        assert!(matches!(earlier, Err(StoreError::Unavailable(_))), "{earlier:?}");
        let later = $later.await.unwrap();
        $two.proxy.release().await;
        later
    }};
}

async fn save(store: &PostgresStore, number: u64) -> StoreResult<()> {
    let change = SettingChange { key: "a".to_owned(), value: Some(number.into()) };
    store.save_settings(&[change], event(number), at(0)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn timed_out_settings_do_not_replace_later_ones() {
    for questions in [0, 1] {
        let two = Two::new().await;

        late!(two, questions, save(&two.stuck, 1), save(&two.free, 2));

        let settings = two.free.load_settings().await.unwrap();
        assert_eq!(settings.values, [("a".to_owned(), 2.into())], "held after {questions}");
    }
}

fn provider(number: i64) -> StoredProvider {
    StoredProvider {
        key: ProviderKey::parse("google").unwrap(),
        kind: ProviderKind::BuiltIn,
        config: serde_json::Map::from_iter([("number".to_owned(), number.into())]),
        sealed: vec![1; 80],
        created_at: at(0),
        updated_at: at(number),
    }
}

async fn replace(store: &PostgresStore, number: i64) -> StoreResult<bool> {
    let event = event(u64::try_from(number).unwrap() + 10);
    store.update_oauth_provider(provider(number), at(0), event).await
}

#[tokio::test(flavor = "multi_thread")]
async fn timed_out_provider_does_not_replace_a_later_one() {
    for questions in [0, 1] {
        let two = Two::new().await;
        two.free.create_oauth_provider(provider(0), event(1)).await.unwrap();
        let later = late!(two, questions, replace(&two.stuck, 1), replace(&two.free, 2));

        assert!(later);
        let found = two.free.list_oauth_providers().await.unwrap();
        assert_eq!(found[0].config["number"], 2, "held after {questions}");
    }
}

fn signing_key(number: u8) -> NewSigningKey {
    NewSigningKey {
        id: KeyId::new(at(0), [number; 10]),
        algorithm: "ES256".to_owned(),
        sealed: vec![1; 100],
        created_at: at(0),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn timed_out_key_does_not_replace_a_later_one() {
    for questions in [0, 1] {
        let two = Two::new().await;
        let first = two.free.ensure_signing_key(signing_key(0)).await.unwrap().id;

        let later = late!(
            two,
            questions,
            two.stuck.rotate_signing_key(signing_key(1), first, at(100), event(1)),
            two.free.rotate_signing_key(signing_key(2), first, at(100), event(2))
        );

        assert!(later);
        let keys = two.free.list_signing_keys(at(0)).await.unwrap();
        assert_eq!(keys[0].id, signing_key(2).id, "held after {questions}");
    }
}
