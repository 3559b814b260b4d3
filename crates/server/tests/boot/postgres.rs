//! Tests of the binary on PostgreSQL: output, commands, and starts with permanent errors.

use latchkey_testkit::postgres::TestCluster;
use latchkey_testkit::{PASSWORD, Session, json};

use crate::binary::Binary;

#[tokio::test]
async fn service_keeps_everything_in_the_database_and_only_secrets_in_its_folder() {
    let database = TestCluster::shared().bare_database();
    let binary = Binary::new().on(&database).set("server.public_url=http://localhost:8700");
    let running = binary.serve().await;
    assert_eq!(running.line("Database"), database.url());
    let session = Session::of(&running.anon().sign_up("ada@example.org", PASSWORD).send().await);
    running.stop().await;

    let running = binary.serve().await;

    running.anon().refresh(&session).send().await.expect(200);
    assert!(!binary.path("latchkey-data/latchkey.db").exists());
}

#[tokio::test]
async fn password_of_the_database_is_shown_nowhere() {
    let database = TestCluster::shared().database();
    let url = format!("{}&password=hunter2hunter2", database.url());
    let binary = Binary::new().variable("LATCHKEY__STORAGE__URL", &url).set("log.level=trace");

    let running = binary.serve().await;
    assert!(running.line("Database").ends_with("&password=***"), "{}", running.banner);
    let served = running.stop().await;
    let shown = [
        binary.run(&["config", "print"]).await,
        binary.run(&["config", "check"]).await,
        binary.run(&["migrate", "--help"]).await,
        binary.clone().set("storage.url=postgres://ada:hunter2hunter2@h/d?sslmode=prefer").run(&[]).await,
        served,
    ];

    for output in shown {
        assert!(!format!("{output:?}").contains("hunter2"), "{output:#?}");
    }
}

#[tokio::test]
async fn address_may_come_from_a_file_like_a_secret() {
    let database = TestCluster::shared().database();
    let binary = Binary::new();
    std::fs::write(binary.path("url"), format!("{}\n", database.url())).unwrap();

    let running = binary.variable("LATCHKEY__STORAGE__URL_FILE", "url").serve().await;

    assert_eq!(running.line("Database"), database.url());
}

#[tokio::test]
async fn commands_work_beside_the_service() {
    let database = TestCluster::shared().database();
    let binary = Binary::new().on(&database);
    let running = binary.serve().await;

    let input = format!("{PASSWORD}\n");
    let made = binary.run_with_input(&["user", "create", "ada@example.org", "--verified"], &input).await;

    let id = made.good().trim().to_owned();
    let session = Session::of(&running.anon().sign_in("ada@example.org", PASSWORD).send().await);
    assert!(binary.run(&["user", "list"]).await.good().contains(&id));
    assert!(binary.run(&["keys", "rotate"]).await.good().contains("A new key signs."));
    assert!(binary.run(&["mail", "list"]).await.good().contains("KIND"));
    binary.run(&["redirects", "test", "http://localhost/"]).await.good();
    binary.run(&["user", "ban", "ada@example.org"]).await.good();
    let banned = running.anon().with_bearer(&session.access_token);
    banned.get("/api/profiles/me").send().await.refused(401, "AUTH_UNAUTHORIZED");
}

#[tokio::test]
async fn permanent_error_ends_the_start() {
    let database = TestCluster::shared().bare_database();
    let url = database.url();
    let nobody = url.replace("user=postgres", "user=nobody_at_all");
    let nowhere = url.replace(database.name(), "no_such_database");
    let cases = [
        (nobody.as_str(), &["nobody_at_all", "pg_hba.conf"][..]),
        (&nowhere, &["no_such_database", "CREATE DATABASE"]),
        ("postgres://u@db.example/accounts?sslmode=prefer", &["sslmode=prefer", "verify-full"]),
        ("postgres://u@db.example", &["names no database"]),
        ("postgres://u:p@ss@db.example/accounts", &["percent-encoded"]),
    ];
    for (url, words) in cases {
        let output = Binary::new().set(&format!("storage.url={url}")).run(&[]).await;
        output.refused(&["storage.url"]);
        output.refused(words);
    }
    let no_file = Binary::new().on(&database).set("storage.postgres.ca_file=/no/such/file");
    let tls = no_file.set("storage.url=postgres://u@127.0.0.1:1/d?sslmode=verify-full").run(&[]).await;
    tls.refused(&["storage.url", "/no/such/file"]);
}

#[tokio::test]
async fn database_of_something_else_is_refused() {
    let database = TestCluster::shared().bare_database();
    database.run("CREATE TABLE orders (id BIGINT)");

    let output = Binary::new().on(&database).run(&[]).await;

    output.refused(&["storage.url", "a database of its own"]);
}

#[tokio::test]
async fn missing_right_to_create_tables_is_reported() {
    let database = TestCluster::shared().bare_database();
    let role = format!("poor_{}", database.name());
    database.run(&format!("CREATE ROLE {role} LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC"));
    let url = database.url().replace("user=postgres", &format!("user={role}"));

    let output = Binary::new().set(&format!("storage.url={url}")).run(&[]).await;

    output.refused(&["storage.url", "permission denied", "owner of the database"]);
}

#[tokio::test]
async fn commands_say_at_once_that_the_database_is_not_there() {
    let binary = Binary::new().set("storage.url=postgres:///db?host=/nowhere&user=u");

    for command in [&["user", "list"][..], &["migrate"], &["migrate", "--check"]] {
        binary.run(command).await.refused(&["storage.url", "postgres:///db?host=/nowhere", "connect"]);
    }
}

#[tokio::test]
async fn instances_that_start_together_on_an_empty_database_all_serve() {
    let database = TestCluster::shared().bare_database();
    let binary = Binary::new().on(&database).set("storage.postgres.pool_size=2");

    let starting: Vec<_> = (0..5).map(|_| binary.start()).collect();

    let mut first = None;
    for starting in starting {
        let running = starting.ready().await;
        let session = match &first {
            None => Session::of(&running.anon().sign_up("ada@example.org", PASSWORD).send().await),
            Some(session) => Session::clone(session),
        };
        let body = json!({"refreshToken": "none"});
        running
            .anon()
            .post("/api/auth/refresh", body)
            .client_type("server")
            .send()
            .await
            .refused(401, "AUTH_UNAUTHORIZED");
        first = Some(session);
    }
}
