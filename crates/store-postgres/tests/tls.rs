//! TLS: nothing is sent before the chain and the host name are verified.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::net::TcpListener;
use std::path::PathBuf;

use latchkey_store::{Store, StoreError};
use latchkey_store_postgres::{Postgres, PostgresOptions, PostgresStore};
use latchkey_store_suite::cluster::{TestCluster, TestDatabase};
use tempfile::TempDir;

/// Server with a certificate for `localhost` of a private authority.
struct Served {
    port: u16,
    database: TestDatabase,
    certificate: PathBuf,
    _folder: TempDir,
    _cluster: TestCluster,
}

/// Writes a file of the server with private permissions.
fn put(cluster: &TestCluster, name: &str, text: &str) {
    cluster.run(&format!(
        "COPY (SELECT line FROM unnest(string_to_array($${}$$, E'\\n')) AS line)
        TO PROGRAM 'umask 077; cat > {name}'",
        text.trim()
    ));
}

fn serve() -> Served {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let cluster = TestCluster::start(&["listen_addresses=127.0.0.1", &format!("port={port}")]).unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    put(&cluster, "server.crt", &made.cert.pem());
    put(&cluster, "server.key", &made.signing_key.serialize_pem());
    cluster.run("ALTER SYSTEM SET ssl = on");
    cluster.run("SELECT pg_reload_conf()");
    let folder = tempfile::tempdir().unwrap();
    let certificate = folder.path().join("ca.pem");
    std::fs::write(&certificate, made.cert.pem()).unwrap();
    Served { port, database: cluster.database(), certificate, _folder: folder, _cluster: cluster }
}

impl Served {
    async fn connect(&self, host: &str, parameters: &str) -> Result<PostgresStore, StoreError> {
        let (port, name) = (self.port, self.database.name());
        let url = format!("postgres://postgres@{host}:{port}/{name}?{parameters}");
        Postgres::connect(PostgresOptions::new(url)).await
    }
}

fn reason(refused: Result<PostgresStore, StoreError>) -> String {
    let Err(StoreError::Unavailable(source)) = refused else { panic!("a refusal") };
    let mut text = String::new();
    let mut next: Option<&dyn std::error::Error> = Some(source.as_ref());
    while let Some(error) = next {
        text.push_str(&error.to_string());
        next = error.source();
    }
    text
}

#[tokio::test]
async fn server_is_trusted_only_with_a_valid_chain_and_host_name() {
    let served = serve();
    let ours = format!("sslmode=verify-full&sslrootcert={}", served.certificate.display());
    let store = served.connect("localhost", &ours).await.unwrap();
    store.check().await.unwrap();

    let unknown = reason(served.connect("localhost", "sslmode=verify-full").await);
    assert!(unknown.contains("UnknownIssuer"), "{unknown}");
    let required = reason(served.connect("localhost", "sslmode=require").await);
    assert!(required.contains("UnknownIssuer"), "{required}");
    let misnamed = reason(served.connect("127.0.0.1", &ours).await);
    assert!(misnamed.contains("not valid for name"), "{misnamed}");
    assert!(served.connect("127.0.0.1", "sslmode=disable").await.is_ok());
}
