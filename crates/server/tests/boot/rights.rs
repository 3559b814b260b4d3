//! Tests of PostgreSQL privileges and TLS. The grants of docs/operations.md suffice, and a missing privilege is named.

use std::net::{Ipv4Addr, TcpListener};

use latchkey_testkit::postgres::{TestCluster, TestDatabase};
use latchkey_testkit::{PASSWORD, Session, json};

use crate::binary::Binary;

/// Database with two roles: its owner, which migrates it, and the role of the service, which owns nothing.
struct SplitRoles {
    database: TestDatabase,
    owner: Binary,
    service: Binary,
    role: String,
}

impl SplitRoles {
    async fn new() -> Self {
        let database = TestCluster::shared().bare_database();
        let (owner, role) = (format!("owner_{}", database.name()), format!("service_{}", database.name()));
        // The grants of docs/operations.md, section "Roles and rights".
        database.run(&format!(
            "CREATE ROLE {owner} LOGIN; CREATE ROLE {role} LOGIN;
            ALTER DATABASE {name} OWNER TO {owner};
            REVOKE ALL ON DATABASE {name} FROM PUBLIC;
            REVOKE ALL ON SCHEMA public FROM PUBLIC;
            GRANT ALL ON SCHEMA public TO {owner};
            GRANT CONNECT ON DATABASE {name} TO {role};
            GRANT USAGE ON SCHEMA public TO {role};
            ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public
                GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role};",
            name = database.name(),
        ));
        let as_user = |user: &str| {
            let url = database.url().replace("user=postgres", &format!("user={user}"));
            Binary::new().set(&format!("storage.url={url}"))
        };
        let (owner, service) = (as_user(&owner), as_user(&role));
        owner.run(&["migrate"]).await.good();
        Self { database, owner, service, role }
    }
}

#[tokio::test]
async fn documented_grants_are_enough_for_the_service() {
    let roles = SplitRoles::new().await;
    let running = roles.service.serve().await;

    let session = Session::of(&running.anon().sign_up("ada@example.org", PASSWORD).send().await);
    let ada = running.anon().with_bearer(&session.access_token);
    ada.patch("/api/profiles/me", json!({"bio": "Countess"})).send().await.expect(200);
    running.anon().search("countess").send().await.expect(200);
    running.anon().refresh(&session).send().await.expect(200);
    running.anon().get("/health/ready").send().await.expect(200);
    roles.service.run(&["keys", "rotate"]).await.good();
    roles.service.run(&["migrate", "--check"]).await.good();
    let output = running.stop().await;

    assert!(!output.err.contains("permission denied"), "{}", output.err);
    roles.owner.run(&["migrate"]).await.good();
}

#[tokio::test]
async fn missing_grant_ends_the_start_and_the_check_and_is_named() {
    for (right, table) in [
        ("UPDATE", "health"),
        ("UPDATE", "users"),
        ("SELECT", "sessions"),
        ("INSERT", "audit_events"),
        ("DELETE", "outbox"),
        ("SELECT", "shared_version"),
        ("INSERT", "search_feed"),
    ] {
        let roles = SplitRoles::new().await;
        roles.database.run(&format!("REVOKE {right} ON {table} FROM {}", roles.role));

        let (started, checked) =
            (roles.service.run(&[]).await, roles.service.run(&["config", "check"]).await);

        let grant = "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO";
        let named = format!("{right} on {table}");
        started.refused(&["storage.url", &named, &format!("{grant} {}", roles.role)]);
        assert_eq!(started.out, "");
        assert!(checked.code == Some(1) && checked.out.contains(&named), "{checked:?}");
        assert!(checked.out.contains(grant), "{checked:?}");
    }
}

#[tokio::test]
async fn refused_statement_is_logged_with_its_cause_and_its_remedy() {
    let roles = SplitRoles::new().await;
    let running = roles.service.serve().await;
    let session = Session::of(&running.anon().sign_up("ada@example.org", PASSWORD).send().await);
    roles.database.run(&format!("REVOKE UPDATE ON profiles FROM {}", roles.role));

    let ada = running.anon().with_bearer(&session.access_token);
    let answer = ada.patch("/api/profiles/me", json!({"bio": "Countess of Lovelace"})).send().await;

    answer.refused(503, "STORAGE_UNAVAILABLE");
    assert!(!answer.text().contains("profiles"), "{answer:?}");
    let output = running.stop().await;
    for words in ["permission denied for table profiles", "SQLSTATE 42501", "docs/operations.md"] {
        assert!(output.err.contains(words), "{words} is missing in {}", output.err);
    }
    for secret in ["Lovelace", "ada@example.org"] {
        assert!(!output.err.contains(secret), "{}", output.err);
    }
}

#[tokio::test]
async fn damaged_data_of_the_server_is_unavailable_and_logged() {
    let database = TestCluster::shared().bare_database();
    let running = Binary::new().on(&database).serve().await;
    let session = Session::of(&running.anon().sign_up("ada@example.org", PASSWORD).send().await);
    // Raises the error that PostgreSQL reports for an unreadable page.
    database.run(
        "CREATE FUNCTION broken() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION 'could not read block 0' USING ERRCODE = 'XX001'; END $$;
        ALTER TABLE profiles RENAME TO unread;
        CREATE VIEW profiles AS SELECT * FROM unread WHERE broken()",
    );

    let ada = running.anon().with_bearer(&session.access_token);
    let answer = ada.get("/api/profiles/me").send().await;

    answer.refused(503, "STORAGE_UNAVAILABLE");
    let output = running.stop().await;
    assert!(
        output.err.contains("SQLSTATE XX001") && output.err.contains("restore a backup"),
        "{}",
        output.err
    );
}

#[tokio::test]
async fn server_without_tls_ends_the_start_at_once() {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let cluster = TestCluster::start(&["listen_addresses=127.0.0.1", &format!("port={port}")]);
    let cluster = cluster.unwrap_or_else(|error| panic!("{error}"));
    let database = cluster.bare_database();

    for mode in ["require", "verify-ca", "verify-full"] {
        let url = format!("postgres://postgres@127.0.0.1:{port}/{}?sslmode={mode}", database.name());
        let output = Binary::new().set(&format!("storage.url={url}")).run(&[]).await;
        output.refused(&["storage.url", "the server has no TLS", "sslmode=disable"]);
        assert_eq!(output.out, "");
    }
}

#[tokio::test]
async fn another_machine_without_an_sslmode_is_refused() {
    let binary = Binary::new().set("storage.url=postgres://ada:hunter2hunter2@db.example/accounts");
    let words = ["storage.url", "(db.example) and no sslmode", "?sslmode=verify-full", "sslmode=disable"];

    for command in [&[][..], &["user", "list"]] {
        let output = binary.run(command).await;
        output.refused(&words);
        assert!(!output.err.contains("hunter2"), "{}", output.err);
    }
    let checked = binary.run(&["config", "check"]).await;
    assert_eq!(checked.code, Some(1));
    assert!(words.iter().all(|word| checked.out.contains(word)), "{}", checked.out);
}
