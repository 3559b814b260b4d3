//! Tests of refused starts: the message names the key and the remedy, and the exit code is not 0.

use std::os::unix::fs::PermissionsExt;

use crate::binary::{Binary, CommandOutput};

const SECRET: &str = "server.secret=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const ADMIN_KEY: &str = "admin.api_key=60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752";
const PUBLIC_URL: &str = "server.public_url=https://accounts.example.com";

/// Starts production mode with these settings and the file transport for mails.
async fn production(settings: &[&str]) -> CommandOutput {
    let base = Binary::bare().set("server.mode=production").set("server.bind=127.0.0.1:0");
    let binary = settings.iter().fold(base.set("mail.transport=file"), |binary, setting| binary.set(setting));
    binary.run(&[]).await
}

#[tokio::test]
async fn production_without_settings_names_all_missing_ones() {
    let output = Binary::bare().set("server.mode=production").run(&[]).await;

    output.refused(&["server.public_url: ", "server.secret: ", "admin.api_key: ", "mail.transport: "]);
    assert_eq!(output.out, "");
}

#[tokio::test]
async fn production_without_a_secret_is_refused() {
    let output = production(&[ADMIN_KEY, PUBLIC_URL]).await;

    output.refused(&["- server.secret: it is required in production", "openssl rand -hex 32"]);
}

#[tokio::test]
async fn production_with_a_known_example_as_secret_is_refused() {
    let example = "server.secret=change-me: the output of openssl rand -hex 32";

    let output = production(&[example, ADMIN_KEY, PUBLIC_URL]).await;

    output.refused(&["- server.secret (--set): it is a known example"]);
    assert!(!output.err.contains("change-me"), "{}", output.err);
}

#[tokio::test]
async fn production_without_an_admin_key_is_refused() {
    let output = production(&[SECRET, PUBLIC_URL]).await;

    output.refused(&["- admin.api_key: it is required in production"]);
}

#[tokio::test]
async fn admin_key_below_32_characters_is_refused_and_not_repeated() {
    let output = production(&[SECRET, "admin.api_key=Shorter-Than-It-Must-Be", PUBLIC_URL]).await;

    output.refused(&["- admin.api_key (--set): it has 23 characters, at least 32 are needed"]);
    assert!(!output.err.contains("Shorter"), "{}", output.err);
}

#[tokio::test]
async fn production_without_a_public_url_is_refused() {
    let output = production(&[SECRET, ADMIN_KEY]).await;

    output.refused(&["- server.public_url: it is required in production"]);
}

#[tokio::test]
async fn production_with_an_http_public_url_is_refused() {
    let output = production(&[SECRET, ADMIN_KEY, "server.public_url=http://accounts.example.com"]).await;

    output.refused(&["- server.public_url: it is http", "server.allow_http"]);
}

#[tokio::test]
async fn production_with_verification_and_without_mail_is_refused() {
    let output = production(&[SECRET, ADMIN_KEY, PUBLIC_URL, "mail.transport="]).await;

    output.refused(&["- mail.transport: verification is required and there is no way to send the mail"]);
}

#[tokio::test]
async fn development_on_an_open_address_is_refused() {
    let output = Binary::bare().set("server.bind=0.0.0.0:0").run(&[]).await;

    output.refused(&["- server.bind: 0.0.0.0:0 can be reached from outside", "server.mode"]);
}

#[tokio::test]
async fn refused_start_leaves_nothing_behind() {
    let binary = Binary::bare().set("server.bind=0.0.0.0:0");

    binary.run(&[]).await;

    assert!(!binary.path("latchkey-data").exists());
}

#[tokio::test]
async fn unknown_key_is_reported_with_the_nearest_known_one() {
    let output = Binary::bare().set("auth.require_email_verifcation=true").run(&[]).await;

    output.refused(&["auth.require_email_verifcation", "did you mean auth.require_email_verification?"]);
}

#[tokio::test]
async fn used_port_is_reported() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();

    let output = Binary::bare().set(&format!("server.bind={address}")).run(&[]).await;

    output.refused(&[&format!("server.bind: cannot listen on {address}: ")]);
    assert_eq!(output.err.lines().count(), 1, "{}", output.err);
}

#[tokio::test]
async fn unwritable_data_folder_is_reported() {
    let binary = Binary::new();
    // Root ignores file modes, so a file in the place of the folder makes it unusable.
    std::fs::write(binary.path("file"), "").unwrap();

    let output = binary.clone().set("data.dir=file/data").run(&[]).await;

    output.refused(&["file/data", "the folder cannot be made"]);
    assert!(!output.err.contains("panic"), "{}", output.err);
}

#[tokio::test]
async fn read_only_data_folder_is_reported() {
    let binary = Binary::new();
    let folder = binary.path("latchkey-data");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(folder.join("probe"), "").is_ok() {
        return; // root can write anyway; the case above remains
    }

    let output = binary.run(&[]).await;

    output.refused(&["latchkey-data/server-secret", "cannot be written"]);
}

#[tokio::test]
async fn file_that_is_no_database_is_reported() {
    let binary = Binary::new();
    std::fs::create_dir(binary.path("latchkey-data")).unwrap();
    std::fs::write(
        binary.path("latchkey-data/latchkey.db"),
        "this is no database, it is a text\n".repeat(99),
    )
    .unwrap();

    let output = binary.run(&[]).await;

    output.refused(&["storage.url", "latchkey-data/latchkey.db", "database"]);
    assert!(!output.err.contains("panic"), "{}", output.err);
}

#[tokio::test]
async fn database_under_another_secret_is_reported() {
    let binary = Binary::new();
    binary.serve().await.stop().await;

    let output = binary.set(SECRET).run(&[]).await;

    output.refused(&["server.secret"]);
}
