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
    assert_eq!(list(&["user", "limits", &id]).await, json!({"data": [], "lifted": false}));
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
