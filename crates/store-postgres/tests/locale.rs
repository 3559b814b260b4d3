//! Independence of the database's locale: Turkish lower-cases `I` differently and sorts by other rules than
//! bytes.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use latchkey_store_postgres::{Postgres, PostgresOptions};
use latchkey_store_suite::cluster::TestCluster;
use latchkey_store_suite::conformance;

/// Suites that compare, fold or sort text.
const MODULES: &[&str] = &["accounts::", "users::", "search::", "search_oracle::", "settings::"];

#[tokio::test(flavor = "multi_thread")]
async fn text_comparison_is_the_same_in_a_turkish_database() {
    let cases = conformance::cases();
    let of_text = cases.iter().filter(|case| MODULES.iter().any(|module| case.name.starts_with(module)));
    let mut count = 0;
    for case in of_text {
        let database = TestCluster::shared().bare_database_of("tr-TR");
        let store = Postgres::connect(PostgresOptions::new(database.url())).await.unwrap();
        store.migrate().await.unwrap();
        println!("{}", case.name); // shown where it fails
        case.run(Arc::new(store)).await;
        count += 1;
    }
    assert!(count > 30, "{count}");
}
