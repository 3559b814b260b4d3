//! Tests of starts on an unusable SQLite file. They fail with a message that names the file and the remedy, and never
//! report readiness. Production creates no file by default.

use std::fs::{self, Permissions};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt, chown};

use latchkey_testkit::PASSWORD;

use crate::binary::{Binary, CommandOutput, names_in};

const DATABASE: &str = "latchkey-data/latchkey.db";

/// Binary whose service ran once and stopped.
async fn used() -> Binary {
    let binary = Binary::new();
    let running = binary.serve().await;
    running.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
    running.stop().await;
    binary
}

/// Binary with complete settings of production mode, but without a database.
fn production() -> Binary {
    Binary::new()
        .set("server.mode=production")
        .set("server.public_url=https://accounts.example.com")
        .set("server.secret=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
        .set("admin.api_key=60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752")
        .set("mail.transport=file")
        .set("passwords.memory_kib=19456")
        .set("passwords.iterations=2")
}

#[track_caller]
fn assert_refused(output: &CommandOutput, binary: &Binary, words: &[&str]) {
    output.refused(&["storage.url: ", &binary.path(DATABASE).display().to_string()]);
    output.refused(words);
    assert_eq!(output.out, "", "it is not ready");
}

#[tokio::test]
async fn file_that_is_read_only_ends_the_start() {
    let binary = used().await;
    fs::set_permissions(binary.path(DATABASE), Permissions::from_mode(0o400)).unwrap();

    let output = binary.clone().unprivileged().run(&[]).await;

    assert_refused(&output, &binary, &["check owner, mode and mount"]);
}

#[tokio::test]
async fn folder_that_is_read_only_ends_the_start() {
    let binary = used().await;
    fs::set_permissions(binary.path("latchkey-data"), Permissions::from_mode(0o500)).unwrap();

    let output = binary.clone().unprivileged().run(&[]).await;

    assert_refused(&output, &binary, &["check owner, mode and mount"]);
}

#[tokio::test]
async fn file_of_another_owner_ends_the_start() {
    let binary = used().await;
    if chown(binary.path(DATABASE), Some(65_534), Some(65_534)).is_err() {
        return; // only root can change the owner
    }

    let output = binary.clone().unprivileged().run(&[]).await;

    assert_refused(&output, &binary, &["check owner, mode and mount"]);
}

#[tokio::test]
async fn disk_that_takes_nothing_ends_the_start() {
    let binary = used().await;
    let no_more = ["/bin/sh", "-c", r#"trap "" XFSZ; ulimit -f 0; exec "$0" "$@""#];

    let output = binary.clone().under(&no_more).run(&[]).await;

    assert_refused(&output, &binary, &["check the disk"]);
}

#[tokio::test]
async fn damaged_file_ends_the_start() {
    let binary = used().await;
    let file = fs::OpenOptions::new().write(true).open(binary.path(DATABASE)).unwrap();
    file.write_all_at(&[0xa5; 3000], 100).unwrap();

    let output = binary.run(&[]).await;

    assert_refused(&output, &binary, &["the file is damaged", "restore a backup"]);
}

#[tokio::test]
async fn production_makes_no_database_unasked() {
    let binary = production();

    for command in [&[][..], &["user", "list"], &["keys", "list"]] {
        let output = binary.run(command).await;
        assert_refused(&output, &binary, &["`latchkey migrate`", "storage.create"]);
    }

    assert!(names_in(&binary.path("")).is_empty(), "something was left behind");
}

#[tokio::test]
async fn production_takes_an_empty_file_for_no_database() {
    let binary = production();
    fs::DirBuilder::new().mode(0o700).create(binary.path("latchkey-data")).unwrap();
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(binary.path(DATABASE)).unwrap();

    let output = binary.run(&[]).await;

    assert_refused(&output, &binary, &["`latchkey migrate`", "storage.create"]);
    assert_eq!(fs::read(binary.path(DATABASE)).unwrap(), b"");
}

#[tokio::test]
async fn production_starts_on_the_database_that_migrate_made() {
    let binary = production();
    binary.run(&["migrate"]).await.good();

    let running = binary.serve().await;

    running.anon().get("/health/ready").send().await.expect(200);
}

#[tokio::test]
async fn production_makes_a_database_where_it_may() {
    let running = production().set("storage.create=true").serve().await;

    running.anon().get("/health/ready").send().await.expect(200);
}

#[tokio::test]
async fn development_makes_no_database_where_it_may_not() {
    let binary = Binary::new().set("storage.create=false");

    let output = binary.run(&[]).await;

    assert_refused(&output, &binary, &["`latchkey migrate`", "storage.create"]);
}
