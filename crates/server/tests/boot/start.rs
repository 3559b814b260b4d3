//! Tests of the first start without configuration: output, files, and the first sign-up.

use std::os::unix::fs::PermissionsExt;

use latchkey_testkit::passkeys::Device;
use latchkey_testkit::postgres::TestCluster;
use latchkey_testkit::{Client, PASSWORD, Session, Value};
use rustix::process::Signal;

use crate::binary::{Binary, names_in};

/// Development mode without settings, except for a free port.
fn unconfigured() -> Binary {
    Binary::bare().set("server.bind=127.0.0.1:0")
}

#[tokio::test]
async fn banner_names_all_locations() {
    let binary = unconfigured();

    let running = binary.serve().await;

    let port = running.address.port();
    assert_eq!(running.public_url(), format!("http://localhost:{port}"));
    assert_eq!(running.line("Listening"), format!("127.0.0.1:{port}, [::1]:{port}"));
    assert_eq!(running.line("Mode"), "development");
    assert_eq!(running.line("Database"), "./latchkey-data/latchkey.db");
    assert_eq!(running.line("Mails"), "./latchkey-data/mails");
    assert_eq!(running.line("Inbox"), format!("http://localhost:{port}/dev/mail"));
    assert_eq!(running.line("API"), format!("http://localhost:{port}/openapi.json"));
    assert!(running.line("Redirects").contains("localhost and 127.0.0.1"), "{}", running.banner);
}

#[tokio::test]
async fn data_folder_is_for_its_owner_alone() {
    let binary = unconfigured();

    let running = binary.serve().await;

    let mode = |name: &str| binary.path(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("latchkey-data"), 0o700);
    assert_eq!(mode("latchkey-data/mails"), 0o700);
    for name in names_in(&binary.path("latchkey-data")).iter().filter(|name| *name != "mails") {
        assert_eq!(mode(&format!("latchkey-data/{name}")), 0o600, "{name}");
    }
    running.stop().await;
    let kept = names_in(&binary.path("latchkey-data"));
    assert_eq!(kept, ["admin-key", "latchkey.db", "mails", "server-secret"]);
}

#[tokio::test]
async fn admin_key_is_not_printed_into_a_pipe_and_works_from_its_file() {
    let binary = unconfigured();

    let running = binary.serve().await;

    let key = binary.read("latchkey-data/admin-key");
    assert!(key.len() >= 32 && !running.banner.contains(&key), "{}", running.banner);
    assert_eq!(running.line("Admin key"), "kept in ./latchkey-data/admin-key");
    running.anon().with_bearer(&key).get("/api/auth/users").send().await.expect(200);
    assert!(!running.stop().await.err.contains(&key));
}

#[tokio::test]
async fn first_sign_up_answers_with_a_session() {
    let running = unconfigured().serve().await;

    let signed_up = running.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);

    let token = signed_up["accessToken"].as_str().unwrap();
    let ada = running.anon().with_bearer(token);
    let current = ada.get("/api/auth/sessions/current").send().await.expect(200);
    assert_eq!(current["user"]["email"], "ada@example.org");
}

#[tokio::test]
async fn service_is_reached_over_both_loopbacks() {
    let running = unconfigured().serve().await;

    let over_ipv6 = format!("[::1]:{}", running.address.port()).parse().unwrap();
    let other = Client::outside(over_ipv6, &running.public_url());

    other.get("/health/ready").send().await.expect(200);
    running.anon().get("/health/live").send().await.expect(200);
}

#[tokio::test]
async fn secrets_sessions_and_keys_survive_a_restart() {
    // A fixed port in the public URL, because the port is part of the cookie's name.
    let binary = Binary::new().set("server.public_url=http://localhost:8700");
    let running = binary.serve().await;
    let signed_up = running.anon().sign_up("ada@example.org", PASSWORD).send().await;
    let session = Session::of(&signed_up);
    let secret = binary.read("latchkey-data/server-secret");
    running.stop().await;

    let running = binary.serve().await;

    let refreshed = running.anon().refresh(&session).send().await;
    let token = Session::of(&refreshed).access_token;
    running.anon().with_bearer(&token).get("/api/profiles/me").send().await.expect(200);
    assert_eq!(binary.read("latchkey-data/server-secret"), secret);
}

#[tokio::test]
async fn start_counts_the_passkeys_of_another_domain() {
    let unusable = "passkeys are unusable";
    let binary = Binary::new().set("server.public_url=https://accounts.example.org");
    let running = binary.serve().await;
    let session = Session::of(&running.anon().sign_up("ada@example.org", PASSWORD).send().await);
    let ada = running.anon().with_bearer(&session.access_token);
    ada.add_passkey(&Device::at("https://accounts.example.org")).await;
    running.stop().await;
    let log = binary.serve().await.stop().await.err;
    assert!(!log.contains(unusable), "{log}");

    let log = binary.set("passkeys.rp_id=example.org").serve().await.stop().await.err;

    let line = log.lines().find(|line| line.contains(unusable)).unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains("count=1") && line.contains("passkeys.rp_id"), "{line}");
}

#[tokio::test]
async fn restart_with_the_same_address_keeps_access_tokens() {
    let binary = Binary::new().set("server.public_url=http://localhost:8700");
    let running = binary.serve().await;
    let signed_up = running.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
    running.signal(Signal::INT);
    assert_eq!(running.ended().await.code, Some(0));

    let running = binary.serve().await;

    let token = signed_up["accessToken"].as_str().unwrap();
    running.anon().with_bearer(token).get("/api/auth/sessions/current").send().await.expect(200);
}

/// Log line of the start.
async fn started(binary: Binary) -> Value {
    let output = binary.set("log.format=json").serve().await.stop().await;
    let lines = output.err.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut started = lines.filter(|line| line["message"] == "started");
    started.next().unwrap_or_else(|| panic!("{output:#?}"))
}

#[tokio::test]
async fn log_names_what_is_in_use() {
    let smtp = Binary::new()
        .set("mail.transport=smtp")
        .set("mail.from=no-reply@example.com")
        .set("mail.smtp.host=localhost")
        .set("mail.smtp.port=2525")
        .set("mail.smtp.tls=none");

    let plain = started(unconfigured()).await;
    let smtp = started(smtp).await;

    let listening = plain["listening"].as_str().unwrap();
    assert!(listening.starts_with("127.0.0.1:") && listening.contains("[::1]:"), "{plain}");
    for (line, name, value) in [
        (&plain, "storage", "sqlite"),
        (&plain, "database", "./latchkey-data/latchkey.db"),
        (&plain, "protocol", "plain HTTP"),
        (&plain, "mail_transport", "file"),
        (&plain, "mails", "./latchkey-data/mails"),
        (&smtp, "mail_transport", "smtp"),
        (&smtp, "mails", "localhost:2525"),
        (&smtp, "mail_tls", "none"),
    ] {
        assert_eq!(line[name], value, "{name} in {line}");
    }
    assert!(plain["public_url"].as_str().unwrap().starts_with("http://localhost:"), "{plain}");
    assert!(plain.get("mail_tls").is_none() && plain.get("storage_tls").is_none(), "{plain}");
}

#[tokio::test]
async fn log_names_the_database_without_its_password() {
    let database = TestCluster::shared().database();
    let url = format!("{}&password=hunter2hunter2", database.url());

    let line = started(Binary::new().variable("LATCHKEY__STORAGE__URL", &url)).await;

    assert_eq!((&line["storage"], &line["storage_tls"]), (&"postgresql".into(), &false.into()));
    assert!(line["database"].as_str().unwrap().ends_with("password=***"), "{line}");
}
