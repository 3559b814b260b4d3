//! The conformance suite on SQLite.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;

use latchkey_store::Store;
use latchkey_store_sqlite::Sqlite;
use tempfile::TempDir;

latchkey_store_suite::conformance_tests!(empty_store);

/// Store on a new file, and the folder, which must outlive it.
#[expect(clippy::unused_async, reason = "the suite awaits it; other engines have to")]
async fn empty_store() -> (Arc<dyn Store>, TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Sqlite::open(&folder.path().join("test.db")).expect("a new store");
    (Arc::new(store), folder)
}
