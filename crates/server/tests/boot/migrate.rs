//! Tests of `latchkey migrate` on both engines.

use latchkey_testkit::postgres::TestCluster;

use crate::binary::{Binary, CommandOutput, names_in};

/// Asserts that the command lists missing migrations, applies them, and lists none afterwards.
async fn assert_migrates(binary: &Binary) {
    let before = binary.run(&["migrate", "--check"]).await;
    assert_lists(&before, 1, "Missing:");
    assert_lists(&binary.run(&["migrate", "--check"]).await, 1, "Missing:");

    let migrated = binary.run(&["migrate"]).await;

    assert_lists(&migrated, 0, "Applied:");
    assert!(binary.run(&["migrate", "--check"]).await.good().contains("up to date"));
    assert!(binary.run(&["migrate"]).await.good().contains("up to date"));
    binary.serve().await.anon().get("/health/ready").send().await.expect(200);
}

#[track_caller]
fn assert_lists(output: &CommandOutput, code: i32, title: &str) {
    assert_eq!(output.code, Some(code), "{output:#?}");
    let mut lines = output.out.lines();
    assert_eq!(lines.next(), Some(title), "{output:#?}");
    assert_eq!(lines.next(), Some("  0001_users"), "{output:#?}");
}

#[tokio::test]
async fn sqlite_file_is_checked_without_being_made_and_then_migrated() {
    let binary = Binary::new();
    binary.run(&["migrate", "--check"]).await;
    assert!(!binary.path("latchkey-data/latchkey.db").exists(), "{:?}", names_in(&binary.path(".")));

    assert_migrates(&binary).await;
}

#[tokio::test]
async fn postgres_database_is_checked_without_being_changed_and_then_migrated() {
    let database = TestCluster::shared().bare_database();

    assert_migrates(&Binary::new().on(&database)).await;
}

#[tokio::test]
async fn database_of_a_newer_version_is_refused_by_the_check_as_well() {
    let database = TestCluster::shared().database();
    database.run("INSERT INTO schema_migrations (version, name, checksum) VALUES (9000, 'later', '')");
    let binary = Binary::new().on(&database);

    for command in [&["migrate", "--check"][..], &["migrate"], &["serve"], &["user", "list"]] {
        binary.run(command).await.refused(&["storage.url", "migration 9000", "use a newer version"]);
    }
}
