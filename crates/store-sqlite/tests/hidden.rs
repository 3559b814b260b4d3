//! What no caller of the contract can see but everybody who looks at the rows, and that the search index stays whole.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::PathBuf;

use async_trait::async_trait;
use latchkey_store::Store;
use latchkey_store::conformance::hidden::{self, Look};
use latchkey_store_sqlite::SqliteStore;
use rusqlite::Connection;
use tempfile::TempDir;

latchkey_store::hidden_tests!(looked);

/// A store, and the file to look into.
struct Looked {
    store: SqliteStore,
    path: PathBuf,
    _folder: TempDir,
}

async fn looked() -> Looked {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    Looked { store: SqliteStore::open(&path).unwrap(), path, _folder: folder }
}

#[async_trait]
impl Look for Looked {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    async fn text(&self, sql: &str) -> String {
        let sql = format!("SELECT CAST(({sql}) AS TEXT)");
        Connection::open(&self.path).unwrap().query_row(&sql, [], |row| row.get(0)).unwrap()
    }
}

#[tokio::test]
async fn a_profile_that_was_taken_back_is_not_left_in_the_index() {
    let looked = looked().await;
    hidden::a_sign_up_at_a_taken_address_leaves_nothing_but_a_mail_and_an_event(&looked).await;
    let conn = Connection::open(&looked.path).unwrap();
    conn.execute_batch("INSERT INTO profile_search (profile_search) VALUES ('integrity-check')").unwrap();
}
