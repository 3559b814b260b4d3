//! Imports that are begun again: after a clash, with a mended file, with another report, at a rate.

use std::process::Stdio;
use std::time::Duration;

use latchkey_store_suite::cluster::TestCluster;
use latchkey_testkit::{Value, json};
use rustix::process::Signal;
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

use crate::binary::{Binary, CommandOutput, eventually, terminate};
use crate::imports::write_records;

const COMMAND: [&str; 4] = ["import", "people.jsonl", "--from", "latchkey"];

async fn import(binary: &Binary, more: &[&str]) -> CommandOutput {
    binary.run(&[&COMMAND[..], more].concat()).await
}

/// Imports, newest first.
async fn imports(binary: &Binary) -> Vec<Value> {
    let list: Value = binary.run(&["import", "list", "--json"]).await.good().parse().unwrap();
    list["data"].as_array().unwrap().clone()
}

#[tokio::test]
async fn import_that_a_clash_ended_is_over() {
    let binary = Binary::new();
    let people = ["new@example.org", "ada@example.org", "eve@example.org"];
    let lines = people.map(|email| json!({"email": email}).to_string());
    std::fs::write(binary.path("ada.jsonl"), &lines[1]).unwrap();
    binary.run(&["import", "ada.jsonl", "--from", "latchkey"]).await.good();
    std::fs::write(binary.path("people.jsonl"), lines.join("\n")).unwrap();
    import(&binary, &["--on-conflict", "fail"]).await.refused(&["line 2", "email_taken"]);

    // The same once more clashes with what the first run wrote.
    import(&binary, &["--on-conflict", "fail"]).await.refused(&["line 1", "email_taken"]);
    let output = import(&binary, &["--on-conflict", "skip"]).await;

    assert!(output.good().contains("3 read, 1 created, 0 updated, 2 skipped"), "{}", output.out);
    assert_eq!(imports(&binary).await.len(), 4);
}

#[tokio::test]
async fn import_whose_file_was_torn_is_over() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 3);
    import(&binary, &[]).await.good();
    binary.run(&["export", "--out", "all.jsonl"]).await.good();
    let whole = binary.read("all.jsonl");
    let (torn, _) = whole.rsplit_once('\n').unwrap();
    let target = Binary::new();
    std::fs::write(target.path("people.jsonl"), torn.rsplit_once('\n').unwrap().0).unwrap();
    import(&target, &[]).await.refused(&["torn", "What was written before stays", "`latchkey import undo "]);

    std::fs::write(target.path("people.jsonl"), whole).unwrap();

    assert!(import(&target, &[]).await.good().contains("3 skipped"));
}

#[tokio::test]
async fn changed_file_of_a_killed_import_is_told_at_once() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 400);
    let mut child = binary.command(&[&COMMAND[..], &["--rate", "100"]].concat()).spawn().unwrap();
    eventually("a batch is written", async || {
        imports(&binary).await.first()?["created"].as_u64().filter(|created| *created > 0)
    })
    .await;
    child.kill().await.unwrap();

    write_records(&binary, "people.jsonl", 399);
    import(&binary, &[]).await.refused(&["changed", "import undo"]);
    write_records(&binary, "people.jsonl", 400);
    assert!(import(&binary, &[]).await.good().contains("400 read, 400 created"));
}

/// Begins an import, and ends it by a signal once it has written a batch.
async fn interrupted(binary: &Binary, command: &[&str], input: &str) {
    let slow = [command, &["--rate", "50"]].concat();
    let mut child = binary.command(&slow).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).await.unwrap();
    drop(stdin);
    eventually("a batch is written", async || {
        imports(binary).await.first()?["created"].as_u64().filter(|created| *created > 0)
    })
    .await;
    terminate(&child, Signal::INT);
    assert_eq!(child.wait_with_output().await.unwrap().status.code(), Some(130));
}

#[tokio::test]
async fn other_standard_input_after_an_interruption_begins_anew() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 400);
    let all = binary.read("people.jsonl");
    let command = ["import", "-", "--from", "latchkey"];
    interrupted(&binary, &command, &all).await;

    let first = all.lines().next().unwrap();
    let other = binary.run_with_input(&command, first).await;
    assert!(other.good().contains("1 read, 0 created, 0 updated, 1 skipped"), "{}", other.out);
    let same = binary.run_with_input(&command, &all).await;

    assert!(same.good().contains("400 read, 400 created"), "{}", same.out);
    assert!(same.err.contains("goes on"), "{}", same.err);
    assert_eq!(imports(&binary).await.len(), 2);
}

#[tokio::test]
async fn database_after_an_interruption_begins_anew() {
    let binary = Binary::new();
    let people = "CREATE TABLE users (id TEXT PRIMARY KEY, email TEXT);
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
        INSERT INTO users SELECT 'p' || i, 'person-' || i || '@example.org' FROM n";
    rusqlite::Connection::open(binary.path("data.db")).unwrap().execute_batch(people).unwrap();
    let command = ["import", "data.db", "--from", "pocketbase"];
    interrupted(&binary, &command, "").await;

    let again = binary.run(&[&command[..], &["--json"]].concat()).await;

    let last: Value = again.good().lines().last().unwrap().parse().unwrap();
    let (created, skipped) = (&last["job"]["created"], &last["job"]["skipped"]);
    assert!(skipped.as_u64() > Some(0) && last["job"]["read"] == json!(400), "{last}");
    assert_eq!(created.as_u64().unwrap() + skipped.as_u64().unwrap(), 400, "{last}");
    assert_eq!(imports(&binary).await.len(), 2);
}

#[tokio::test]
async fn report_to_the_pipe_that_is_read_is_no_clash() {
    let binary = Binary::new();
    let command = ["import", "-", "--from", "latchkey", "--report", "/dev/stdin"];
    let output = binary.run_with_input(&command, &json!({"email": "ada@example.org"}).to_string()).await;
    assert!(output.good().contains("1 created"), "{}", output.out);
}

#[tokio::test]
async fn report_that_cannot_be_written_begins_nothing() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 3);
    let records = binary.read("people.jsonl");
    std::fs::hard_link(binary.path("people.jsonl"), binary.path("link.jsonl")).unwrap();
    std::os::unix::fs::symlink("people.jsonl", binary.path("symbolic.jsonl")).unwrap();

    import(&binary, &["--report", "nowhere/report.jsonl"]).await.refused(&["nowhere", "cannot be written"]);
    for report in ["people.jsonl", "./people.jsonl", "link.jsonl", "symbolic.jsonl"] {
        for dry in [&[][..], &["--dry-run"]] {
            import(&binary, &[&["--report", report], dry].concat())
                .await
                .refused(&["give --report another file"]);
        }
    }

    assert_eq!(binary.read("people.jsonl"), records);
    assert!(imports(&binary).await.is_empty());
    std::fs::write(binary.path("report.jsonl"), "x".repeat(10_000)).unwrap();
    import(&binary, &["--report", "report.jsonl"]).await.good();
    assert_eq!(binary.read("report.jsonl").lines().count(), 3, "what it had is gone");
}

#[tokio::test]
async fn rate_bounds_the_first_records_too() {
    let binary = Binary::new();
    write_records(&binary, "people.jsonl", 60);
    let begun = Instant::now();
    import(&binary, &["--rate", "40"]).await.good();
    assert!(begun.elapsed() >= Duration::from_millis(59 * 1_000 / 40), "{:?}", begun.elapsed());

    write_records(&binary, "others.jsonl", 4_000);
    let command = ["import", "others.jsonl", "--from", "latchkey", "--rate", "1"];
    let child = binary.command(&command).spawn().unwrap();
    eventually("the import runs", async || Some(imports(&binary).await.len()).filter(|count| *count == 2))
        .await;
    terminate(&child, Signal::INT);
    assert_eq!(child.wait_with_output().await.unwrap().status.code(), Some(130));
    assert!(imports(&binary).await[0]["read"].as_u64().unwrap() < 60);
}

#[tokio::test]
async fn file_without_a_place_for_accounts_is_told() {
    let binary = Binary::new();
    std::fs::write(binary.path("users.json"), r#"{"Users":[{"localId":"u1","email":"ada@example.org"}]}"#)
        .unwrap();
    let command = ["import", "users.json", "--from", "firebase"];
    binary.run(&command).await.refused(&["no accounts found", "auth:export"]);
    std::fs::write(binary.path("users.json"), r#"{"users":[]}"#).unwrap();
    assert!(binary.run(&command).await.good().contains("0 read"));
}

#[tokio::test]
async fn missing_table_of_a_database_is_named() {
    let binary = Binary::new();
    rusqlite::Connection::open(binary.path("data.db"))
        .unwrap()
        .execute_batch("CREATE TABLE others (id TEXT)")
        .unwrap();
    binary.run(&["import", "data.db", "--from", "pocketbase"]).await.refused(&["no table users", "--table"]);

    let database = TestCluster::shared().bare_database();
    std::fs::write(binary.path("url"), database.url()).unwrap();
    let command = ["import", "--url-file", "url", "--from", "supabase"];
    binary.run(&command).await.refused(&["no table auth.users", "--table"]);
}

#[tokio::test]
async fn cause_that_ends_the_reading_of_a_database_is_told() {
    let binary = Binary::new();
    let database = TestCluster::shared().bare_database();
    std::fs::write(binary.path("url"), database.url()).unwrap();
    let command = ["import", "--url-file", "url", "--from", "better-auth"];
    for (sql, told) in [
        ("CREATE TABLE \"user\" (key text)", "no column id"),
        (
            "ALTER TABLE \"user\" ADD id text; CREATE TABLE account (x text)",
            "account has no column userId or user_id",
        ),
        (
            "DROP TABLE account; DROP TABLE \"user\"; CREATE TABLE log (x int);
            CREATE FUNCTION note() RETURNS text LANGUAGE sql AS 'INSERT INTO log VALUES (1) RETURNING x::text';
            CREATE VIEW \"user\" AS SELECT note() AS id",
            "SQLSTATE 25006",
        ),
    ] {
        database.run(sql);
        let refused = binary.run(&command).await;
        refused.refused(&[told]);
        assert!(!refused.err.contains("the storage"), "{}", refused.err);
    }
}

#[tokio::test]
async fn table_of_the_application_with_the_name_of_a_plugin_is_passed_over() {
    let binary = Binary::new();
    let database = TestCluster::shared().bare_database();
    std::fs::write(binary.path("url"), database.url()).unwrap();
    let tables = |email: &str| {
        format!(
            "CREATE TABLE \"user\" (id text, email text); CREATE TABLE passkey (id text, device text);
            CREATE TABLE account (id text, \"userId\" text, \"providerId\" text, \"accountId\" text);
            INSERT INTO \"user\" VALUES ('u1', '{email}'); INSERT INTO passkey VALUES ('u1', 'x')"
        )
    };
    database.run(&tables("ada@example.org"));
    let file = rusqlite::Connection::open(binary.path("auth.db")).unwrap();
    file.execute_batch(&tables("bob@example.org")).unwrap();
    drop(file);
    for source in [&["--url-file", "url"][..], &["auth.db"]] {
        let output = binary.run(&[&["import", "--from", "better-auth"], source].concat()).await;
        assert!(output.good().contains("1 read, 1 created"), "{}", output.out);
    }
}

#[tokio::test]
async fn realm_of_several_has_to_be_named_and_the_report_names_the_file() {
    let binary = Binary::new();
    std::fs::create_dir(binary.path("out")).unwrap();
    for (realm, number, email) in
        [("dev", 0, "ada@dev.example"), ("prod", 0, "ada@example.org"), ("prod", 1, "nobody")]
    {
        let users = json!({"realm": realm, "users": [{"email": email}]}).to_string();
        std::fs::write(binary.path(&format!("out/{realm}-users-{number}.json")), users).unwrap();
    }
    let command = ["import", "out", "--from", "keycloak", "--report", "report.jsonl"];

    binary.run(&command).await.refused(&["several realms: \"dev\", \"prod\"", "--realm NAME"]);
    let output = binary.run(&[&command[..], &["--realm", "prod"]].concat()).await;

    assert_eq!(output.code, Some(2), "{output:#?}");
    assert!(output.out.contains("2 read, 1 created, 0 updated, 0 skipped, 1 refused"), "{}", output.out);
    let line: Value = binary.read("report.jsonl").trim().parse().unwrap();
    assert_eq!((&line["file"], &line["code"]), (&json!("prod-users-1.json"), &json!("email_invalid")));
}
