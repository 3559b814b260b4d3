//! Tests of `--json`, the form of every list and report for programs.

use latchkey_testkit::{PASSWORD, Session, Value, json};

use crate::binary::{Binary, CommandOutput};

/// Reads the one document that a command printed.
#[track_caller]
fn document(output: &CommandOutput) -> Value {
    serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error} in {output:#?}"))
}

#[tokio::test]
async fn lists_are_documents() {
    let binary = Binary::new();
    let created = ["user", "create", "ada@example.org", "--verified"];
    let id = binary.run_with_input(&created, PASSWORD).await.good().trim().to_owned();
    binary.run(&["operator", "grant", &id, "--role", "owner"]).await.good();
    let provider = ["oauth", "add", "google", "--client-id", "client"];
    binary.run_with_input(&provider, "secret\n").await.good();
    let list = async |command: &[&str]| {
        let output = binary.run(&[command, &["--json"]].concat()).await;
        output.good();
        assert_eq!(output.out.lines().count(), 1, "{}", output.out);
        document(&output)
    };

    let users = list(&["user", "list"]).await;
    assert_eq!((&users["data"][0]["id"], &users["total"]), (&json!(id), &json!(1)), "{users}");
    let operators = list(&["operator", "list"]).await;
    assert_eq!(operators["data"][0]["role"], "owner", "{operators}");
    assert_eq!(operators["data"][0]["activatedAt"], Value::Null, "{operators}");
    let providers = list(&["oauth", "list"]).await;
    assert_eq!(providers["data"][0]["key"], "google", "{providers}");
    assert!(!providers.to_string().contains("secret"), "{providers}");
    let keys = list(&["keys", "rotate"]).await;
    assert_eq!(keys["data"].as_array().map(Vec::len), Some(2), "{keys}");
    assert_eq!(list(&["keys", "list"]).await, keys);
    let events = list(&["audit", "--user", &id]).await;
    assert!(events["data"].as_array().is_some_and(|events| !events.is_empty()), "{events}");
    assert_eq!(list(&["audit", "--address", "192.0.2.1"]).await, json!({"data": []}));
    assert_eq!(list(&["mail", "list"]).await, json!({"data": []}));
    assert_eq!(list(&["user", "mails", &id]).await, json!({"data": []}));
    assert_eq!(list(&["user", "limits", &id]).await, json!({"data": [], "lifted": false}));
}

#[tokio::test]
async fn mails_to_an_account_are_those_of_the_outbox() {
    let binary = Binary::new();
    let running = binary.serve().await;
    running.anon().sign_up("ada@example.org", PASSWORD).send().await.expect(200);
    binary.run(&["user", "send-reset", "ada@example.org"]).await.good();

    let mails = document(&binary.run(&["user", "mails", "ada@example.org", "--json"]).await);

    let mails = mails["data"].as_array().unwrap();
    assert!(!mails.is_empty() && mails.iter().all(|mail| mail["email"] == "ada@example.org"), "{mails:?}");
}

#[tokio::test]
async fn statistics_count_hashes_that_wait() {
    let binary = Binary::new();
    binary.run_with_input(&["user", "create", "ada@example.org", "--verified"], PASSWORD).await.good();
    let weak = json!({"email": "bob@example.org", "passwordHash": "5f4dcc3b5aa765d61d8327deb882cf99"});
    let import = ["import", "-", "--from", "latchkey", "--allow-weak"];
    binary.run_with_input(&import, &weak.to_string()).await.good();

    let text = binary.run(&["user", "stats", "--days", "2"]).await;
    let stats = document(&binary.run(&["user", "stats", "--json"]).await);

    for line in [
        "Accounts   2: 1 verified",
        "Passwords  1 argon2id, 1 digest (1 bare digest waits to be wrapped)",
        "Database   sqlite, ",
        "DAY          SIGN-UPS",
    ] {
        assert!(text.good().contains(line), "{line} in {}", text.out);
    }
    assert_eq!(text.out.lines().filter(|line| line.starts_with("20")).count(), 2, "{}", text.out);
    assert_eq!((&stats["users"]["total"], &stats["passwords"]["digest"]), (&json!(2), &json!(1)), "{stats}");
    assert_eq!(stats["series"].as_array().map(Vec::len), Some(30), "{stats}");
    assert_eq!(binary.run(&["user", "stats", "--days", "91"]).await.code, Some(2));
}

#[tokio::test]
async fn backup_and_its_check_are_documents() {
    let binary = Binary::new().set("server.public_url=http://localhost:8700");
    binary.run_with_input(&["user", "create", "ada@example.org"], PASSWORD).await.good();

    let made = document(&binary.run(&["backup", "--out", "copy.db", "--json"]).await);
    let verified = document(&binary.run(&["backup", "--verify", "copy.db", "--json"]).await);

    assert_eq!(made, verified);
    assert_eq!((&made["manifest"]["users"], &made["deleted"]), (&json!(1), &json!([])), "{made}");
    assert!(made["path"].as_str().is_some_and(|path| path.ends_with("copy.db")), "{made}");
}

#[tokio::test]
async fn output_that_nobody_reads_is_no_error() {
    let binary = Binary::new();
    binary.run_with_input(&["user", "create", "ada@example.org"], PASSWORD).await.good();
    for command in [&["user", "list"][..], &["import", "list"], &["user", "stats"], &["completions", "bash"]]
    {
        let mut child = binary.command(command).spawn().unwrap();
        drop(child.stdout.take());

        let output = child.wait_with_output().await.unwrap();

        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{command:?}");
    }
}

#[tokio::test]
async fn output_that_does_not_fit_is_an_error() {
    let binary = Binary::new();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();

    for command in [&["user", "list"][..], &["export", "--out", "-"]] {
        let child = binary.command(command).stdout(full.try_clone().unwrap()).spawn().unwrap();
        let output = child.wait_with_output().await.unwrap();

        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("standard output cannot be written: No space left"), "{said}");
        assert!(!said.contains("internal error"), "{said}");
    }
}

#[tokio::test]
async fn export_whose_reader_went_away_is_not_whole() {
    let binary = Binary::new();
    let mut child = binary.command(&["export", "--out", "-"]).spawn().unwrap();
    drop(child.stdout.take());

    let output = child.wait_with_output().await.unwrap();

    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("standard output cannot be written: Broken pipe"), "{said}");
    assert!(said.contains("the export is not whole"), "{said}");
}

#[tokio::test]
async fn account_is_one_document() {
    let binary = Binary::new();
    let running = binary.serve().await;
    let session = Session::of(&running.anon().sign_up("ada@example.org", PASSWORD).send().await);
    running
        .anon()
        .sign_in("ada@example.org", "a wrong password")
        .send()
        .await
        .refused(401, "INVALID_CREDENTIALS");
    binary.run(&["user", "ban", &session.user_id]).await.good();

    let shown = document(&binary.run(&["user", "show", "ada@example.org", "--json"]).await);
    let why = document(&binary.run(&["user", "why", "ada@example.org", "--json"]).await);

    assert_eq!(shown["user"]["email"], "ada@example.org", "{shown}");
    assert_eq!(shown["user"]["banned"], true, "{shown}");
    assert_eq!(shown["failures"].as_array().map(Vec::len), Some(1), "{shown}");
    assert_eq!(shown["sessions"], json!([]), "{shown}");
    assert_eq!((&why["canSignIn"], &why["obstacles"][0]["kind"]), (&json!(false), &json!("banned")), "{why}");
}

#[tokio::test]
async fn checks_are_documents_and_keep_their_exit_codes() {
    let binary = Binary::new();
    let good = binary.run(&["config", "check", "--json"]).await;
    let bad = binary.clone().set("auth.code_ttl=0s").run(&["config", "check", "--json"]).await;
    let missing = binary.run(&["migrate", "--json", "--check"]).await;
    let applied = binary.run(&["migrate", "--json"]).await;
    let again = binary.run(&["migrate", "--json", "--check"]).await;
    let refused = binary.run(&["redirects", "test", "--json", "https://evil.example"]).await;

    good.good();
    assert_eq!(document(&good)["good"], true);
    assert_eq!((bad.code, &document(&bad)["problems"][0]["key"]), (Some(1), &json!("auth.code_ttl")));
    assert_eq!(missing.code, Some(1), "{missing:#?}");
    assert_eq!(document(&missing)["missing"], document(&applied)["applied"]);
    assert_eq!((again.code, document(&again)), (Some(0), json!({"missing": []})));
    assert_eq!((refused.code, &document(&refused)["allowed"]), (Some(1), &json!(false)));
}

#[tokio::test]
async fn states_and_acts_of_an_instance_are_documents() {
    let binary = Binary::new();
    let version = document(&binary.run(&["version", "--json"]).await);
    let running = binary.serve().await;
    let url = format!("http://{}/", running.address);
    let ready = binary.run(&["health", &url, "--json"]).await;
    running.stop().await;
    let away = binary.run(&["health", &url, "--json"]).await;
    binary.run(&["backup", "--out", "copy.db"]).await.good();
    let restored = document(&binary.run(&["restore", "copy.db", "--force", "--json"]).await);
    let next = binary.variable("LATCHKEY__SERVER__SECRET_NEXT", &"7f".repeat(32));
    let rotated = document(&next.run(&["secret", "rotate", "--json"]).await);

    assert_eq!(version, json!({"version": env!("CARGO_PKG_VERSION")}));
    assert_eq!((ready.code, document(&ready)), (Some(0), json!({"url": url, "ready": true, "reason": null})));
    assert_eq!((away.code, &document(&away)["ready"]), (Some(1), &json!(false)));
    assert!(document(&away)["reason"].as_str().unwrap().starts_with("cannot be asked: "), "{away:?}");
    assert_eq!((&restored["manifest"]["users"], &restored["endedSessions"]), (&json!(0), &json!(0)));
    assert!(restored["moved"].as_str().unwrap().contains("before-restore"), "{restored}");
    assert!(rotated["resealed"].as_u64().unwrap() > 0, "{rotated}");
    assert!(rotated["oldSecretFile"].as_str().unwrap().contains("server-secret.until-"), "{rotated}");
}

#[tokio::test]
async fn printed_settings_are_a_document_without_secrets() {
    let binary = Binary::new().set("admin.api_key=Neither-This-Nor-That-Key-Is-Ever-Shown");

    let output = binary.run(&["config", "print", "--json"]).await;

    let settings = &document(&output)["settings"];
    assert_eq!(settings["limits.enabled"], json!({"value": false, "source": "--set"}));
    assert_eq!(settings["auth.code_ttl"], json!({"value": "10m", "source": "default"}));
    assert_eq!(settings["admin.api_key"]["value"], "***");
    assert!(!output.out.contains("Neither-This"), "{}", output.out);
}

#[tokio::test]
async fn removal_of_a_provider_needs_confirmation_without_a_terminal() {
    let binary = Binary::new();
    let provider = ["oauth", "add", "google", "--client-id", "client"];
    binary.run_with_input(&provider, "secret\n").await.good();

    binary.run_with_input(&["oauth", "remove", "google"], "y\n").await.refused(&["no terminal", "--yes"]);

    assert!(binary.run(&["oauth", "list"]).await.good().contains("google"));
    assert_eq!(binary.run(&["oauth", "remove", "google", "--yes"]).await.good(), "removed google\n");
}

#[tokio::test]
async fn unlinking_needs_confirmation_without_a_terminal() {
    let binary = Binary::new();
    binary.run_with_input(&["user", "create", "ada@example.org"], PASSWORD).await.good();
    let unlink = ["user", "unlink", "ada@example.org", "google"];

    binary.run_with_input(&unlink, "y\n").await.refused(&["nothing was unlinked", "--yes"]);

    let sure = binary.run(&[&unlink[..], &["--yes"]].concat()).await;
    assert_eq!(sure.code, Some(1), "{sure:#?}");
    assert!(!sure.err.contains("--yes"), "no such identity, and no question: {sure:#?}");
}

#[tokio::test]
async fn unknown_variable_of_ours_is_named() {
    let binary = Binary::new().variable("LATCHKEY_DATBASE", "x").variable("LATCHKEY_BINARY", "y");

    let output = binary.run(&["config", "check"]).await;

    assert!(
        output.good().contains("- warning: LATCHKEY_DATBASE begins with LATCHKEY_ and is no setting"),
        "{}",
        output.out
    );
    assert!(!output.out.contains("LATCHKEY_BINARY"), "{}", output.out);
}
