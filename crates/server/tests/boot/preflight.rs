//! Tests of the checks that `config check` and the start share: files, permissions, address, database. Invalid values
//! are tested in `refusals` and `settings`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use latchkey_testkit::postgres::TestCluster;

use crate::binary::{Binary, CommandOutput, names_in};

const SECRET: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const OTHER_SECRET: &str = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752";

/// Binary with valid production settings and its secrets in files of mode 600.
fn production() -> Binary {
    let binary = Binary::bare()
        .set("server.mode=production")
        .set("server.bind=127.0.0.1:0")
        .set("server.public_url=https://accounts.example.com")
        .set("server.trusted_proxies=127.0.0.1")
        .set("mail.transport=file")
        .set("storage.create=true")
        .variable("LATCHKEY__SERVER__SECRET_FILE", "server.key")
        .variable("LATCHKEY__ADMIN__API_KEY_FILE", "admin.key");
    for (name, text) in [("server.key", SECRET), ("admin.key", OTHER_SECRET)] {
        fs::write(binary.path(name), text).unwrap();
        set_mode(&binary.path(name), 0o600);
    }
    binary
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

async fn check(binary: &Binary) -> CommandOutput {
    binary.run(&["config", "check"]).await
}

/// Asserts that `config check` and the start both fail with these words.
pub async fn assert_refused(binary: &Binary, words: &[&str]) {
    let checked = check(binary).await;
    assert_eq!(checked.code, Some(1), "{checked:#?}");
    for word in words {
        assert!(checked.out.contains(word), "{word:?} is missing in {checked:#?}");
    }
    binary.run(&[]).await.refused(words);
}

/// Asserts that `config check` succeeds with these warnings, and that the start logs them.
async fn assert_warned(binary: &Binary, words: &[&str]) {
    let checked = check(binary).await;
    let served = binary.serve().await.stop().await;
    for word in words {
        assert!(checked.good().contains(word), "{word:?} is missing in {checked:#?}");
        assert!(served.err.contains(word), "{word:?} is missing in {served:#?}");
    }
}

#[tokio::test]
async fn good_check_makes_nothing_and_the_start_succeeds() {
    let binary = production();

    let checked = check(&binary).await;

    let good = checked.good();
    assert!(good.starts_with("The settings are good (production, https://accounts.example.com/)."), "{good}");
    assert!(good.contains("- note: the start makes the database ./latchkey-data/latchkey.db"), "{good}");
    assert_eq!(names_in(&binary.path(".")), ["admin.key", "server.key"]);
    binary.serve().await.stop().await;
}

#[tokio::test]
async fn check_beside_the_stopped_and_the_running_service_is_good_and_leaves_nothing() {
    let binary = Binary::new();
    let running = binary.serve().await;
    let address = running.address;
    let beside = check(&binary.clone().set(&format!("server.bind={address}"))).await;
    assert!(beside.good().contains(&format!("- warning: server.bind: {address} is in use")), "{beside:#?}");
    running.stop().await;
    let before = names_in(&binary.path("latchkey-data"));

    check(&binary).await.good();

    assert_eq!(names_in(&binary.path("latchkey-data")), before);
}

#[tokio::test]
async fn all_errors_are_reported_at_once() {
    let binary = production();
    set_mode(&binary.path("server.key"), 0o644);
    fs::create_dir(binary.path("templates")).unwrap();
    fs::write(binary.path("templates/verify_code.txt"), "{{ code").unwrap();
    fs::write(binary.path("ca.pem"), "no certificate").unwrap();
    let binary = binary
        .set("mail.templates_dir=templates")
        .set("oauth.ca_file=ca.pem")
        .set("data.dir=server.key/data")
        .set("server.bind=192.0.2.1:8700")
        .set("log.level=loud")
        .variable("LATCHKEY_SERVER_MODE", "production");

    let output = check(&binary).await;

    assert_eq!(output.code, Some(1), "{output:#?}");
    for words in [
        "- LATCHKEY_SERVER_MODE: there is no such setting; did you mean LATCHKEY__SERVER__MODE?",
        "- log.level (--set): found",
        "- server.secret: every user of this machine can open server.key (mode 0644); run `chmod 600 server.key`",
        "- mail.templates_dir: mail template verify_code.txt line 1: ",
        "- oauth.ca_file: ca.pem: ",
        "- data.dir: server.key/data: the folder cannot be made",
        "- server.bind: cannot listen on 192.0.2.1:8700: ",
    ] {
        assert!(output.out.contains(words), "{words:?} is missing in {}", output.out);
    }
}

#[tokio::test]
async fn broken_template_is_refused() {
    let binary = Binary::new().set("mail.templates_dir=own");
    assert_refused(&binary, &["- mail.templates_dir: own: cannot be read", "unset the key"]).await;
    fs::create_dir(binary.path("own")).unwrap();
    fs::write(binary.path("own/verify_code.txt"), "Your code is {{ cod }}.").unwrap();

    assert_refused(&binary, &["- mail.templates_dir: mail template verify_code.txt line 1"]).await;
}

#[tokio::test]
async fn file_of_authorities_that_holds_none_is_refused() {
    let binary = Binary::new().set("mail.from=a@b.example").set("mail.smtp.host=mail.example.com");
    fs::write(binary.path("ca.pem"), "no certificate").unwrap();

    let smtp = binary.clone().set("mail.transport=smtp").set("mail.smtp.ca_file=ca.pem");
    assert_refused(&smtp, &["- mail.smtp.ca_file: ca.pem: ", "PEM form"]).await;
    let providers = binary.set("oauth.ca_file=missing.pem");
    assert_refused(&providers, &["- oauth.ca_file: missing.pem: ", "PEM form"]).await;
}

#[tokio::test]
async fn secret_file_readable_by_every_user_is_refused_in_production_and_warned_of_in_development() {
    let words = [
        "server.secret: every user of this machine can open server.key (mode 0604); run `chmod 600 server.key`",
    ];
    let open = production();
    set_mode(&open.path("server.key"), 0o604);
    assert_refused(&open, &words).await;
    set_mode(&open.path("server.key"), 0o640);
    check(&open).await.good(); // service managers pass secrets by group

    let development = Binary::new().variable("LATCHKEY__SERVER__SECRET_FILE", "server.key");
    fs::write(development.path("server.key"), SECRET).unwrap();
    set_mode(&development.path("server.key"), 0o604);
    assert_warned(&development, &words).await;
}

#[tokio::test]
async fn settings_file_with_secrets_readable_by_every_user_is_refused_and_without_secrets_is_not() {
    let binary = production();
    fs::write(binary.path("latchkey.toml"), format!("[admin]\napi_key_next = '{}'\n", "Ab3".repeat(20)))
        .unwrap();
    set_mode(&binary.path("latchkey.toml"), 0o644);

    assert_refused(&binary, &["- admin.api_key_next: every user", "`chmod 600 latchkey.toml`"]).await;

    fs::write(binary.path("latchkey.toml"), "[log]\nlevel = 'info'\n").unwrap();
    check(&binary).await.good();
}

#[tokio::test]
async fn data_folder_that_others_can_open_is_refused_in_production_and_warned_of_in_development() {
    let words = [
        "data.dir: other users of this machine can open the folder ./latchkey-data (mode 0750); run `chmod 700 ./latchkey-data`",
    ];
    for binary in [production(), Binary::new()] {
        fs::create_dir(binary.path("latchkey-data")).unwrap();
        set_mode(&binary.path("latchkey-data"), 0o750);
        if binary.path("server.key").exists() {
            assert_refused(&binary, &words).await;
        } else {
            assert_warned(&binary, &words).await;
        }
    }
}

#[tokio::test]
async fn stored_secrets_and_a_database_elsewhere_readable_by_every_user_are_refused() {
    let binary = production().set("storage.url=sqlite:elsewhere.db");
    binary.serve().await.stop().await;
    fs::write(binary.path("latchkey-data/admin-key"), OTHER_SECRET).unwrap();
    for name in ["latchkey-data/admin-key", "elsewhere.db"] {
        set_mode(&binary.path(name), 0o644);
    }

    let words =
        ["`chmod 600 ./latchkey-data/admin-key`", "- storage.url: every user", "`chmod 600 elsewhere.db`"];
    assert_refused(&binary, &words).await;
}

#[tokio::test]
async fn emptied_stored_secret_fails_the_check() {
    let binary = Binary::new();
    binary.serve().await.stop().await;
    fs::write(binary.path("latchkey-data/admin-key"), "\n").unwrap();

    let output = check(&binary).await;

    assert_eq!(output.code, Some(1), "{output:#?}");
    assert!(output.out.contains("- data.dir: ./latchkey-data/admin-key: is no secret"), "{output:#?}");
}

#[tokio::test]
async fn database_under_another_or_a_lost_secret_fails_the_check() {
    let binary = Binary::new();
    binary.serve().await.stop().await;

    let other = check(&binary.clone().set(&format!("server.secret={SECRET}"))).await;
    fs::remove_file(binary.path("latchkey-data/server-secret")).unwrap();
    let lost = check(&binary).await;

    assert_eq!((other.code, lost.code), (Some(1), Some(1)), "{other:#?} {lost:#?}");
    assert!(other.out.contains("- server.secret: it does not open the database"), "{other:#?}");
    assert!(
        lost.out.contains("- server.secret: the database was made with a secret that is missing"),
        "{lost:#?}"
    );
    assert!(!binary.path("latchkey-data/server-secret").exists());
}

#[tokio::test]
async fn file_that_is_no_database_fails_the_check() {
    let binary = Binary::new();
    fs::create_dir(binary.path("latchkey-data")).unwrap();
    fs::write(binary.path("latchkey-data/latchkey.db"), "a text, and no database\n".repeat(99)).unwrap();

    let output = check(&binary).await;

    assert_eq!(output.code, Some(1), "{output:#?}");
    assert!(output.out.contains("- storage.url: the database "), "{output:#?}");
}

#[tokio::test]
async fn missing_database_that_no_start_makes_fails_the_check() {
    let binary = production().set("storage.create=false");

    assert_refused(
        &binary,
        &["storage.url: the database ", "`latchkey migrate`, or set storage.create = true"],
    )
    .await;
    assert!(!binary.path("latchkey-data").exists());
}

#[tokio::test]
async fn folder_and_database_that_cannot_be_written_fail_the_check() {
    let binary = Binary::new().unprivileged();
    binary.serve().await.stop().await;
    let folder = binary.path("latchkey-data");
    set_mode(&folder.join("latchkey.db"), 0o400);
    let file = check(&binary).await;
    set_mode(&folder, 0o500);
    let all = check(&binary).await;
    set_mode(&folder, 0o700);

    assert_eq!((file.code, all.code), (Some(1), Some(1)), "{file:#?} {all:#?}");
    assert!(
        file.out.contains("- storage.url: the database ./latchkey-data/latchkey.db cannot be written"),
        "{file:#?}"
    );
    assert!(all.out.contains("- data.dir: the folder ./latchkey-data cannot be written"), "{all:#?}");
}

#[tokio::test]
async fn postgres_is_reached_looked_at_and_left_as_it_is() {
    let database = TestCluster::shared().bare_database();
    let binary = Binary::new().on(&database);

    let new = check(&binary).await;
    assert!(new.good().contains("- note: the start migrates the database: 0001_users to 00"), "{new:#?}");
    assert!(binary.run(&["migrate", "--check"]).await.out.starts_with("Missing:"));
    binary.serve().await.stop().await;
    assert!(!check(&binary).await.good().contains("note:"));
    let other = check(&binary.clone().set(&format!("server.secret={SECRET}"))).await;

    assert_eq!(other.code, Some(1), "{other:#?}");
    assert!(other.out.contains("- server.secret: it does not open the database"), "{other:#?}");
}

#[tokio::test]
async fn postgres_that_is_not_there_fails_the_check() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);

    let output =
        check(&Binary::new().set(&format!("storage.url=postgres://u:hunter2@127.0.0.1:{port}/d"))).await;

    assert_eq!(output.code, Some(1), "{output:#?}");
    assert!(output.out.contains("- storage.url: the database postgres://u:***@127.0.0.1"), "{output:#?}");
    assert!(!format!("{output:?}").contains("hunter2"), "{output:#?}");
}

#[tokio::test]
async fn port_of_the_mail_server_that_speaks_otherwise_is_refused() {
    let binary = Binary::new()
        .set("mail.transport=smtp")
        .set("mail.from=a@b.example")
        .set("mail.smtp.host=mail.example.com");

    let wrapped = binary.clone().set("mail.smtp.port=465");
    assert_refused(&wrapped, &["- mail.smtp.port: 465 is the port for TLS", "mail.smtp.tls to \"tls\""])
        .await;
    let begun = binary.set("mail.smtp.port=587").set("mail.smtp.tls=tls");
    assert_refused(
        &begun,
        &["- mail.smtp.port: 587 is a port for STARTTLS", "mail.smtp.tls to \"starttls\""],
    )
    .await;
}

#[tokio::test]
async fn variable_with_one_underscore_is_refused_with_the_right_name() {
    let binary = Binary::new().variable("LATCHKEY_SERVER_MODE", "production");

    assert_refused(&binary, &["- LATCHKEY_SERVER_MODE: ", "did you mean LATCHKEY__SERVER__MODE?"]).await;
}

#[tokio::test]
async fn foreign_variables_are_ignored_and_a_similar_one_is_warned_of() {
    let binary = Binary::new()
        .variable("LATCHKEY_PORT", "tcp://10.0.0.1:8700")
        .variable("LATCHKEY_SERVER_PORT_8700_TCP_ADDR", "10.0.0.1")
        .variable("LATCHKEY_URL", "http://localhost:8700")
        .variable("LATCHKEY_ADMIN_KEY", "hunter2");

    assert_warned(&binary, &["LATCHKEY_ADMIN_KEY is not read", "LATCHKEY__ADMIN__API_KEY"]).await;

    let output = check(&binary).await;
    assert_eq!(output.out.matches("warning:").count(), 1, "{output:#?}");
    assert!(!output.out.contains("hunter2"), "{output:#?}");
}

#[tokio::test]
async fn https_without_a_trusted_proxy_is_warned_of_with_the_line_to_write() {
    let binary = production().set("server.trusted_proxies=");

    assert_warned(
        &binary,
        &["server.trusted_proxies is empty", "set server.trusted_proxies = [\"127.0.0.1\"]"],
    )
    .await;
    let listed = check(&production()).await;
    assert!(!listed.good().contains("trusted_proxies"), "{listed:#?}");
}

#[tokio::test]
async fn trusted_proxies_of_the_whole_internet_are_warned_of() {
    let binary = production().set("server.trusted_proxies=0.0.0.0/0,10.0.0.0/8");

    assert_warned(&binary, &["server.trusted_proxies: 0.0.0.0/0 trusts every IPv4 address"]).await;
}

#[tokio::test]
async fn redirect_wildcard_below_a_public_suffix_is_warned_of() {
    let list = "auth.allowed_redirect_urls=https://*.vercel.app/done,https://*.example.com/done";
    let binary = Binary::new().set(list);

    assert_warned(
        &binary,
        &["auth.allowed_redirect_urls: https://*.vercel.app/done allows hosts of any owner"],
    )
    .await;
    assert!(!check(&binary).await.out.contains("*.example.com"));
}

#[tokio::test]
async fn redirect_wildcard_that_an_admin_stored_is_warned_of_at_the_start() {
    let binary = Binary::new();
    let running = binary.serve().await;
    let admin = running.anon().with_bearer(&binary.read("latchkey-data/admin-key"));
    let change = serde_json::json!({"allowedRedirectUrls": ["https://*.co.uk/done"]});
    admin.put("/api/auth/config", change).send().await.expect(200);
    running.stop().await;

    let output = binary.serve().await.stop().await;

    assert!(output.err.contains("https://*.co.uk/done allows hosts of any owner"), "{output:#?}");
}
