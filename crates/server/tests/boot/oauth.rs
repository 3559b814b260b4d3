//! Tests of identity providers with the binary: commands, settings, and a sign-in in Chromium.

use std::process::Stdio;
use std::time::Duration;

use latchkey_testkit::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use crate::binary::{Binary, Running};
use crate::certified::{CertifiedProvider, node};

const CALLBACK: &str = "/api/auth/oauth/custom/acme/callback";
const WAIT_LIMIT: Duration = Duration::from_mins(2);

async fn provider_of(running: &Running) -> CertifiedProvider {
    CertifiedProvider::start(&format!("{}{CALLBACK}", running.public_url()), None).await
}

/// Runs sign-ins in Chromium, and returns name, output and URL of each step.
async fn seen_in_a_browser(service: &str) -> Vec<(String, String, String)> {
    let mut browser = node("browser.js").arg(service).stderr(Stdio::piped()).spawn().expect("Node.js");
    let (mut out, mut err) = (String::new(), String::new());
    let (mut stdout, mut stderr) = (browser.stdout.take().unwrap(), browser.stderr.take().unwrap());
    let read = async { tokio::join!(stdout.read_to_string(&mut out), stderr.read_to_string(&mut err)) };
    timeout(WAIT_LIMIT, read).await.expect("a browser that comes to an end").0.unwrap();
    assert!(browser.wait().await.unwrap().success(), "{out}\n{err}");
    let text = |fact: &Value, key: &str| fact[key].as_str().unwrap().to_owned();
    let step = |line: &str| {
        let fact: Value = serde_json::from_str(line).unwrap();
        (text(&fact, "step"), text(&fact, "output"), text(&fact, "url"))
    };
    out.lines().map(step).collect()
}

#[tokio::test]
async fn visitor_in_a_browser_signs_in_and_returns_with_a_session() {
    let binary = Binary::new();
    let running = binary.serve().await;
    let provider = provider_of(&running).await;
    let (client_id, secret) = CertifiedProvider::CLIENT;
    let discovery = provider.discovery();
    let add = ["oauth", "add", "acme", "--name", "Acme", "--discovery", &discovery, "--client-id", client_id];
    let output = binary.run_with_input(&add, &format!("{secret}\n")).await;
    assert!(output.good().trim_end().ends_with(CALLBACK), "{output:?}");

    let seen = seen_in_a_browser(&running.public_url()).await;

    let steps: Vec<_> = seen.iter().map(|(step, output, _)| (step.as_str(), output.as_str())).collect();
    assert_eq!(
        steps,
        [
            ("before", "Nobody is signed in (AUTH_UNAUTHORIZED)."),
            ("denied", "Refused: The sign-in was cancelled at the provider."),
            ("allowed", "ada@example.org is signed in by exchange; token of 3 parts."),
            ("opened again", "ada@example.org is signed in by cookie; token of 3 parts."),
            ("signed out", "Signed out."),
            ("after", "Nobody is signed in (AUTH_UNAUTHORIZED)."),
        ]
    );
    assert!(seen.iter().all(|(_, _, url)| !url.contains("service_code")), "{seen:?}");
}

#[tokio::test]
async fn provider_is_added_listed_and_removed_beside_a_running_service() {
    let binary = Binary::new();
    let running = binary.serve().await;
    let id = "1234.apps.googleusercontent.com";
    let add = ["oauth", "add", "google", "--client-id", id, "--no-link-by-email"];

    let added = binary.run_with_input(&add, "the-secret\n").await;
    assert!(added.good().contains("/api/auth/oauth/google/callback"), "{added:?}");
    let start = running.anon().get("/api/auth/oauth/google").query("redirect_uri", "http://localhost:1/");
    let listed = binary.run(&["oauth", "list"]).await;
    assert!(listed.good().contains("google") && listed.good().contains("built-in"), "{listed:?}");
    // The provider exists now, so the next missing parameter is reported.
    start.send().await.refused(400, "VALIDATION_ERROR");
    let admin = running.anon().with_bearer(&binary.read("latchkey-data/admin-key"));
    let config = admin.get("/api/auth/oauth/google/config").send().await.expect(200);
    assert_eq!(config["linkByEmail"], false);

    assert_eq!(binary.run(&["oauth", "remove", "google", "--yes"]).await.good(), "removed google\n");
    assert!(!binary.run(&["oauth", "list"]).await.good().contains("google"));
}

#[tokio::test]
async fn provider_that_cannot_be_used_is_not_added() {
    let binary = Binary::new();
    let add = ["oauth", "add", "acme", "--client-id", "c"];

    binary.run_with_input(&add, "the-secret\n").await.refused(&["--discovery", "required"]);
    binary.run(&["oauth", "add", "google", "--client-id", "c"]).await.refused(&["secret", "standard input"]);
    binary.run_with_input(&["oauth", "add", "Acme", "--client-id", "c"], "s").await.refused(&["the key"]);
    binary.run(&["oauth", "remove", "acme", "--yes"]).await.refused(&["acme"]);
    let apple = ["oauth", "add", "apple", "--client-id", "c", "--team-id", "T", "--key-id", "K"];
    binary.run_with_input(&apple, "no key").await.refused(&["private key"]);
}

#[tokio::test]
async fn provider_of_the_settings_file_is_there_at_once() {
    let binary = Binary::new();
    let file = r#"
        [oauth.providers.google]
        client_id = "1234.apps.googleusercontent.com"
        [oauth.providers.acme]
        name = "Acme"
        discovery_endpoint = "https://id.acme.example"
        client_id = "latchkey"
    "#;
    std::fs::write(binary.path("latchkey.toml"), file).unwrap();
    std::fs::write(binary.path("secret"), "from-a-file\n").unwrap();
    let binary = binary
        .variable("LATCHKEY__OAUTH__PROVIDERS__GOOGLE__CLIENT_SECRET_FILE", "secret")
        .variable("LATCHKEY__OAUTH__PROVIDERS__ACME__CLIENT_SECRET", "from-the-environment");

    let running = binary.serve().await;

    let public = running.anon().get("/api/auth/public-config").send().await.expect(200);
    assert_eq!(public["oAuthProviders"], json!(["google"]));
    assert_eq!(public["customOAuthProviders"], json!(["acme"]));
    binary.run(&["oauth", "remove", "acme", "--yes"]).await.refused(&["oauth.providers.acme"]);
    let shown = binary.run(&["config", "print"]).await;
    assert!(shown.good().contains("client_secret = \"***\"") && !shown.out.contains("from-"), "{shown:?}");
}
