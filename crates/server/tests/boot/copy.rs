//! Tests of `latchkey copy`. After a complete copy, also one that was interrupted, everything works on PostgreSQL; an
//! incomplete copy fails. The engine's own tests check the copied rows.

use std::process::Stdio;

use latchkey_store_suite::cluster::{TestCluster, TestDatabase};
use latchkey_testkit::{PASSWORD, Session, json};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::binary::{Binary, CommandOutput, Running};

/// Path of the SQLite file in the binary's folder.
const FILE: &str = "latchkey-data/latchkey.db";

fn binary() -> Binary {
    Binary::new().set("server.public_url=http://localhost:8700")
}

fn database() -> TestDatabase {
    TestCluster::shared().bare_database()
}

async fn copy(binary: &Binary, database: &TestDatabase) -> CommandOutput {
    binary.run(&["copy", "--from", &format!("sqlite:{FILE}"), "--to", database.url()]).await
}

/// Starts the same binary with the same secret on the copied database.
async fn serve_copy(binary: &Binary, database: &TestDatabase) -> Running {
    binary.clone().set(&format!("storage.url={}", database.url())).serve().await
}

/// Binary that ran once and stopped, with one user, Ada.
async fn stopped_with_ada(binary: &Binary) -> Session {
    let running = binary.serve().await;
    let session = Session::of(&running.anon().sign_up("ada@example.org", PASSWORD).send().await);
    let ada = running.anon().with_bearer(&session.access_token);
    ada.patch("/api/profiles/me", json!({"bio": "Countess of Ðrıftwood"})).send().await.expect(200);
    running.stop().await;
    session
}

/// Inserts this many rows directly into the SQLite file.
fn fill(binary: &Binary, rows: u32) {
    let file = rusqlite::Connection::open(binary.path(FILE)).unwrap();
    let sql = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?1)
        INSERT INTO known_clients (key, known_until) SELECT randomblob(16), n FROM n";
    file.execute(sql, [rows]).unwrap();
}

#[tokio::test]
async fn everything_works_after_the_copy_as_before() {
    let (binary, database) = (binary(), database());
    let session = stopped_with_ada(&binary).await;

    let copied = copy(&binary, &database).await;

    assert!(
        copied.good().contains("The copy is whole") && copied.out.contains("server.secret"),
        "{copied:?}"
    );
    let running = serve_copy(&binary, &database).await;
    let ada = running.anon().with_bearer(&session.access_token);
    let profile = ada.get("/api/profiles/me").send().await.expect(200);
    assert_eq!(profile["bio"], "Countess of Ðrıftwood");
    running.anon().refresh(&session).send().await.expect(200);
    running.anon().sign_in("ada@example.org", PASSWORD).send().await.expect(200);
    let found = running.anon().search("ountess").send().await.expect(200);
    assert_eq!(found[0]["auth_id"], session.user_id.as_str());
    running.anon().sign_up("ada@example.org", PASSWORD).send().await.refused(409, "EMAIL_EXISTS");
}

#[tokio::test]
async fn copy_that_was_killed_goes_on_and_copies_nothing_twice() {
    let (binary, database) = (binary(), database());
    let session = stopped_with_ada(&binary).await;
    fill(&binary, 40_000);
    let source = format!("sqlite:{FILE}");
    let mut first = binary.command(&["copy", "--from", &source, "--to", database.url()]);
    let mut first = first.stdin(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(first.stdout.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.starts_with("copying: ") && line.ends_with("at known_clients") {
            break;
        }
    }
    first.kill().await.unwrap();

    let on_half = binary.clone().set(&format!("storage.url={}", database.url())).run(&[]).await;
    let second = copy(&binary, &database).await;

    on_half.refused(&["unfinished copy", "latchkey copy"]);
    assert!(second.err.contains("the copy resumes"), "{second:?}");
    assert!(second.good().contains("known_clients          40000       40000"), "{second:?}");
    serve_copy(&binary, &database).await.anon().refresh(&session).send().await.expect(200);
}

#[tokio::test]
async fn copy_that_differs_is_no_success() {
    let (binary, database) = (binary(), database());
    stopped_with_ada(&binary).await;
    binary.clone().set(&format!("storage.url={}", database.url())).run(&["migrate"]).await.good();
    database.run(
        "CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN new.name := upper(new.name) || '!'; RETURN new; END $$;
        CREATE TRIGGER shout BEFORE INSERT ON profiles FOR EACH ROW EXECUTE FUNCTION shout()",
    );

    let copied = copy(&binary, &database).await;

    copied.refused(&["the copy is not the source: profiles differ"]);
    assert!(copied.out.contains("DIFFERENT") && !copied.out.contains("The copy is whole"), "{copied:?}");
}

#[tokio::test]
async fn running_service_is_not_copied() {
    let (binary, database) = (binary(), database());
    let _running = binary.serve().await;

    let copied = copy(&binary, &database).await;

    copied.refused(&[FILE, "is open in another process", "stop the service first"]);
}

#[tokio::test]
async fn instance_is_never_copied_onto_another() {
    let (binary, database) = (binary(), database());
    stopped_with_ada(&binary).await;
    copy(&binary, &database).await.good();

    let again = copy(&binary, &database).await;

    again.refused(&["the target: the table users is not empty"]);
}

#[tokio::test]
async fn default_target_is_the_one_of_the_settings() {
    let (binary, database) = (binary(), database());
    stopped_with_ada(&binary).await;
    let source = format!("sqlite:{FILE}");

    let nowhere = binary.run(&["copy", "--from", &source]).await;
    let there = binary.clone().set(&format!("storage.url={}", database.url()));
    let copied = there.run(&["copy", "--from", &source]).await;

    nowhere.refused(&["give --to postgres://…, or set storage.url to it"]);
    copied.good();
}

#[tokio::test]
async fn refused_target_does_not_show_its_password() {
    let binary = binary();
    stopped_with_ada(&binary).await;
    for target in ["postgres://u:s3cret@127.0.0.1:1/x", "postgres://u:s3cret@/", "mysql://u:s3cret@h/x"] {
        let refused = binary.run(&["copy", "--from", &format!("sqlite:{FILE}"), "--to", target]).await;

        refused.refused(&["the target: "]);
        assert!(!format!("{refused:?}").contains("s3cret"), "{refused:?}");
    }
}
