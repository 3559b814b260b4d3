//! Tests of the database file: its mode, other processes, disk faults, crashes.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use latchkey_store::{Accounts, CreateOutcome, Profiles, Store, StoreError};
use latchkey_store_sqlite::{Sqlite, SqliteOptions};
use latchkey_store_suite::conformance::numbered::{account, key, user_id};
use rusqlite::Connection;

/// Number of concurrent writers in the crash test.
const WRITERS: u64 = 8;
/// Minimum number of acknowledged writes before the child process is killed.
const ACKNOWLEDGED: usize = 60;

fn options() -> SqliteOptions {
    SqliteOptions { busy_timeout: Duration::from_millis(20), ..SqliteOptions::default() }
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_is_readable_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let store = Sqlite::open(&path).unwrap();
    store.create_account(account(1)).await.unwrap();
    for name in ["test.db", "test.db-wal", "test.db-shm"] {
        let mode = folder.path().join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[tokio::test]
async fn a_closed_store_is_one_file_that_opens_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let store = Sqlite::open(&path).unwrap();
    store.create_account(account(1)).await.unwrap();
    drop(store);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let store = Sqlite::open(&path).unwrap();
    assert!(store.find_user(user_id(1)).await.unwrap().is_some());
}

#[tokio::test]
async fn two_processes_see_each_others_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let (one, other) = (Sqlite::open(&path).unwrap(), Sqlite::open(&path).unwrap());
    one.create_account(account(1)).await.unwrap();
    assert!(other.find_user_by_email(&key(1)).await.unwrap().is_some());
    other.create_account(account(2)).await.unwrap();
    assert!(one.find_user_by_email(&key(2)).await.unwrap().is_some());
}

#[tokio::test]
async fn lock_held_by_another_process_is_unavailable_until_released() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let store = Sqlite::open_with(&path, options()).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(store.create_account(account(1)).await, Err(StoreError::Unavailable(_))));
    assert!(store.find_user(user_id(1)).await.unwrap().is_none());
    other.execute_batch("ROLLBACK").unwrap();
    store.create_account(account(1)).await.unwrap();
}

#[tokio::test]
async fn a_lock_that_another_process_frees_in_time_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let store = Sqlite::open(&path).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let freed = std::thread::spawn(move || other.execute_batch("COMMIT").unwrap());
    store.create_account(account(1)).await.unwrap();
    freed.join().unwrap();
}

#[tokio::test]
async fn unwritable_storage_fails_the_check() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let store = Sqlite::open_with(&path, options()).unwrap();
    store.check().await.unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(store.check().await, Err(StoreError::Unavailable(_))));
}

#[tokio::test]
async fn a_bad_row_is_corrupt_and_names_its_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let store = Sqlite::open(&path).unwrap();
    store.create_account(account(1)).await.unwrap();
    let other = Connection::open(&path).unwrap();
    for (sql, table, column) in [
        ("UPDATE users SET metadata = 'no json'", "users", "metadata"),
        ("UPDATE users SET metadata = '[]'", "users", "metadata"),
        ("UPDATE users SET metadata = '{}', email = 'no address'", "users", "email"),
    ] {
        other.execute_batch(sql).unwrap();
        let error = store.find_user(user_id(1)).await.unwrap_err();
        let is_named =
            matches!(error, StoreError::Corrupt { table: t, column: c } if (t, c) == (table, column));
        assert!(is_named, "{sql}: {error:?}");
    }
}

#[tokio::test]
async fn file_of_another_application_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    std::fs::write(&path, "this is no database, however long this text may be".repeat(100)).unwrap();
    let before = std::fs::read(&path).unwrap();
    assert!(Sqlite::open(&path).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(matches!(Sqlite::open(&folder.path().join("no/folder.db")), Err(StoreError::Unavailable(_))));
}

/// Child process of the crash test: this test binary with one test selected.
#[tokio::test]
async fn child_that_writes_until_it_is_killed() {
    let Some((path, first)) = task_of_child() else { return };
    let store = Arc::new(Sqlite::open(Path::new(&path)).unwrap());
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for number in (first + writer..).step_by(usize::try_from(WRITERS).unwrap()) {
                    let outcome = store.create_account(account(number)).await.unwrap();
                    assert!(matches!(outcome, CreateOutcome::Created(_)));
                    println!("\nacknowledged {number}");
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
}

#[expect(clippy::disallowed_methods, reason = "the way from the crash test to its child")]
fn task_of_child() -> Option<(String, u64)> {
    let path = std::env::var("LATCHKEY_CRASH_TEST_FILE").ok()?;
    Some((path, std::env::var("LATCHKEY_CRASH_TEST_FIRST").ok()?.parse().ok()?))
}

#[tokio::test]
async fn killed_process_loses_no_acknowledged_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let mut acknowledged = Vec::new();
    for run in 0..3 {
        let first = 1 + run * 1_000_000;
        acknowledged.extend(run_and_kill(&path, first));
        let store = Sqlite::open(&path).unwrap();
        for number in &acknowledged {
            assert!(store.find_user(user_id(*number)).await.unwrap().is_some(), "{number} is lost");
        }
        for number in first..first + u64::try_from(acknowledged.len()).unwrap() + WRITERS {
            let user = store.find_user(user_id(number)).await.unwrap();
            let profile = store.find_profile(user_id(number)).await.unwrap();
            assert_eq!(user.is_some_and(|user| user.has_password), profile.is_some(), "half of {number}");
        }
        store.check().await.unwrap();
    }
    assert!(acknowledged.len() >= 3 * ACKNOWLEDGED);
}

/// Starts the child, kills it after some acknowledgements, and returns all of them.
fn run_and_kill(path: &Path, first: u64) -> Vec<u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_writes_until_it_is_killed", "--nocapture"])
        .env("LATCHKEY_CRASH_TEST_FILE", path)
        .env("LATCHKEY_CRASH_TEST_FIRST", first.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = lines.filter_map(|line| line.ok()?.strip_prefix("acknowledged ")?.parse().ok());
    let mut acknowledged: Vec<u64> = seen.by_ref().take(ACKNOWLEDGED).collect();
    child.kill().unwrap();
    acknowledged.extend(seen); // what the pipe still held
    child.wait().unwrap();
    acknowledged
}
