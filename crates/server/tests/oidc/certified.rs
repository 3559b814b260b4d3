//! Certified identity provider of the npm package `oidc-provider`, started by a test, with a visitor that goes through
//! its pages over HTTP.
#![allow(dead_code, unreachable_pub, reason = "each suite takes what it needs")]

use std::path::{Path, PathBuf};
use std::process::Stdio;

use latchkey_testkit::visitor::Visitor;
use latchkey_testkit::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oidc");
const CLIENT_ID: &str = "latchkey";
const CLIENT_SECRET: &str = "secret-of-the-client-at-the-provider-of-the-tests";

/// Running identity provider. Stopped on drop.
pub struct CertifiedProvider {
    _child: Child,
    issuer: String,
}

/// Command that runs a script of this folder with Node.js.
pub fn node(script: &str) -> Command {
    let is_installed = Path::new(FOLDER).join("node_modules/oidc-provider").is_dir();
    assert!(is_installed, "the identity provider is missing: run `cargo xtask prepare node`");
    let mut command = Command::new("node");
    command
        .arg(PathBuf::from(FOLDER).join(script))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    command
}

impl CertifiedProvider {
    /// Starts the provider on a free port. `now` is the time of the test's clock in milliseconds since 1970; without
    /// it, the system clock applies. The provider's only client redirects to `callback`.
    pub async fn start(callback: &str, now: Option<i64>) -> Self {
        let mut child = node("server.js")
            .args(["0", callback])
            .args(now.map(|now| now.to_string()))
            .stderr(Stdio::null()) // its warnings about development
            .spawn()
            .expect("Node.js");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next_line().await.unwrap().expect("a provider that listens");
        let first: Value = serde_json::from_str(&first).unwrap();
        Self { _child: child, issuer: first["issuer"].as_str().unwrap().to_owned() }
    }

    /// URL of the provider's discovery document.
    pub fn discovery(&self) -> String {
        format!("{}/.well-known/openid-configuration", self.issuer)
    }

    /// Request body that configures this provider as a custom one.
    pub fn custom(&self, key: &str) -> Value {
        json!({
            "key": key,
            "name": "Acme",
            "discoveryEndpoint": self.discovery(),
            "clientId": CLIENT_ID,
            "clientSecret": CLIENT_SECRET,
        })
    }

    /// Client id and client secret of the provider's only client.
    pub const CLIENT: (&str, &str) = (CLIENT_ID, CLIENT_SECRET);

    /// Opens `auth_url`, logs in and consents; returns the final redirect.
    pub async fn allow(&self, auth_url: &str, login: &str) -> String {
        self.visit(auth_url, login, "allow").await
    }

    /// Opens `auth_url`, logs in and denies consent; returns the final redirect.
    pub async fn deny(&self, auth_url: &str, login: &str) -> String {
        self.visit(auth_url, login, "deny").await
    }

    async fn visit(&self, auth_url: &str, login: &str, answer: &str) -> String {
        let mut visitor = Visitor::at(&self.issuer);
        visitor.open(auth_url).await;
        visitor.submit(&[("login", login)]).await;
        visitor.submit(&[("answer", answer)]).await;
        visitor.left_for()
    }
}
