//! The guarded client: address policy at connection time (DNS rebinding), TLS, and proxies.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use latchkey_oauth::{
    InvalidOutbound, Lookup, Networks, OutboundSettings, Provider, ProviderClient, ProviderError, Proxy,
};

use crate::fixtures::{NOW, credentials, development, start};
use crate::sockets::{Authority, Bytes, Server, json, response};

/// A resolver with a sequence of answers; the last one repeats.
struct Changing {
    answers: Mutex<VecDeque<Vec<IpAddr>>>,
    asked: Mutex<Vec<String>>,
}

impl Changing {
    fn new(answers: &[&[&str]]) -> Arc<Self> {
        let read = |response: &&[&str]| response.iter().map(|address| address.parse().unwrap()).collect();
        Arc::new(Self { answers: Mutex::new(answers.iter().map(read).collect()), asked: Mutex::default() })
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Lookup for Changing {
    fn lookup(&self, host: &str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>> {
        self.asked.lock().unwrap().push(host.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let response = if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0].clone() };
        Box::pin(async move { Ok(response) })
    }
}

/// A client that trusts the test CA and uses this resolver.
fn client(lookup: &Arc<Changing>, networks: Networks, authority: Option<&Authority>) -> ProviderClient {
    let folder = tempfile::tempdir().unwrap();
    let ca_file = authority.map(|authority| {
        let path = folder.path().join("authority.pem");
        std::fs::write(&path, authority.pem()).unwrap();
        path
    });
    let lookup: Arc<dyn Lookup> = lookup.clone();
    ProviderClient::new(OutboundSettings { networks, ca_file, lookup: Some(lookup), ..development() })
        .unwrap()
}

async fn ask(client: &ProviderClient, issuer: &str) -> Option<ProviderError> {
    let provider = Provider::custom("acme", issuer, credentials()).unwrap();
    client.authorization_url(&provider, &start(), NOW).await.err()
}

fn document(port: u16) -> Bytes {
    let issuer = format!("https://idp.example:{port}");
    Bytes::All(json(&format!(
        r#"{{"issuer":"{issuer}","authorization_endpoint":"{issuer}/a","token_endpoint":"{issuer}/t","jwks_uri":"{issuer}/k"}}"#
    )))
}

const PUBLIC: Networks = Networks { loopback: false, private: false };
const DEVELOPMENT: Networks = Networks { loopback: true, private: false };

#[tokio::test]
async fn a_name_that_means_a_private_address_is_not_connected_to() {
    for address in
        ["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1", "fd00:ec2::254", "::ffff:192.168.0.1", "0.0.0.0"]
    {
        let lookup = Changing::new(&[&[address]]);
        let refused = ask(&client(&lookup, PUBLIC, None), "https://idp.example").await;
        assert!(matches!(refused, Some(ProviderError::Forbidden { .. })), "{address} {refused:?}");
        assert_eq!(lookup.asked(), 1);
    }
}

#[tokio::test]
async fn a_name_that_begins_to_mean_another_address_is_not_connected_to() {
    let authority = Authority::new();
    // The name is resolved and checked for each connection.
    let server = Server::tls(Bytes::All(response("404 Not Found", "", b"")), &authority, "idp.example").await;
    let lookup = Changing::new(&[&["127.0.0.1"], &["169.254.169.254"], &["10.0.0.1"], &["127.0.0.1"]]);
    let client = client(&lookup, DEVELOPMENT, Some(&authority));
    let issuer = format!("https://idp.example:{}", server.port);

    let answers = [
        ask(&client, &issuer).await,
        ask(&client, &issuer).await,
        ask(&client, &issuer).await,
        ask(&client, &issuer).await,
    ];

    assert!(matches!(answers[0], Some(ProviderError::Refused { .. })), "{:?}", answers[0]);
    assert!(matches!(answers[1], Some(ProviderError::Forbidden { .. })), "{:?}", answers[1]);
    assert!(matches!(answers[2], Some(ProviderError::Forbidden { .. })), "{:?}", answers[2]);
    assert!(matches!(answers[3], Some(ProviderError::Refused { .. })), "{:?}", answers[3]);
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn of_several_addresses_only_the_allowed_ones_are_tried() {
    let authority = Authority::new();
    let server = Server::tls(Bytes::All(response("404 Not Found", "", b"")), &authority, "idp.example").await;
    let lookup = Changing::new(&[&["10.0.0.1", "169.254.169.254", "127.0.0.1", "fd00:ec2::254"]]);
    let client = client(&lookup, DEVELOPMENT, Some(&authority));
    let response = ask(&client, &format!("https://idp.example:{}", server.port)).await;
    assert!(matches!(response, Some(ProviderError::Refused { .. })), "{response:?}");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_name_that_says_this_machine_must_mean_it() {
    let lookup = Changing::new(&[&["8.8.8.8"]]);
    let client = client(&lookup, DEVELOPMENT, None);
    let refused = ask(&client, "http://idp.localhost").await;
    assert!(matches!(refused, Some(ProviderError::Forbidden { .. })), "{refused:?}");
}

#[tokio::test]
async fn an_address_in_the_url_is_refused_without_a_resolver() {
    let lookup = Changing::new(&[&["127.0.0.1"]]);
    let client = client(&lookup, PUBLIC, None);
    for issuer in [
        "https://127.0.0.1",
        "https://[::1]",
        "https://[::ffff:10.0.0.1]",
        "https://169.254.169.254",
        "https://0x7f.1",
        "https://localhost",
        "http://idp.example",
    ] {
        let refused = ask(&client, issuer).await;
        assert!(matches!(refused, Some(ProviderError::Forbidden { .. })), "{issuer} {refused:?}");
    }
    assert_eq!(lookup.asked(), 0);
}

#[tokio::test]
async fn private_networks_are_reached_if_configured() {
    let lookup = Changing::new(&[&["169.254.169.254"]]);
    let private = Networks { loopback: false, private: true };
    let refused = ask(&client(&lookup, private, None), "https://idp.example").await;
    assert!(matches!(refused, Some(ProviderError::Forbidden { .. })), "{refused:?}");

    let authority = Authority::new();
    let server = Server::tls(Bytes::All(response("404 Not Found", "", b"")), &authority, "idp.example").await;
    let lookup = Changing::new(&[&["127.0.0.1"]]);
    let client = client(&lookup, private, Some(&authority));
    let response = ask(&client, &format!("https://idp.example:{}", server.port)).await;
    assert!(matches!(response, Some(ProviderError::Refused { .. })), "{response:?}");
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_or_for_another_name_is_refused() {
    let (known, unknown) = (Authority::new(), Authority::new());
    let lookup = Changing::new(&[&["127.0.0.1"]]);
    let client = client(&lookup, DEVELOPMENT, Some(&known));
    for (authority, host) in [(&unknown, "idp.example"), (&known, "other.example")] {
        let server = Server::tls(document(1), authority, host).await;
        let refused = ask(&client, &format!("https://idp.example:{}", server.port)).await;
        let Some(ProviderError::Down { reason, .. }) = refused else { panic!("{refused:?}") };
        assert!(reason.contains("certificate"), "{reason}");
    }
}

#[tokio::test]
async fn plain_text_instead_of_tls_is_refused() {
    let server = Server::plain(document(1)).await;
    let lookup = Changing::new(&[&["127.0.0.1"]]);
    let client = client(&lookup, DEVELOPMENT, None);
    let refused = ask(&client, &format!("https://idp.example:{}", server.port)).await;
    assert!(matches!(refused, Some(ProviderError::Down { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_configured_proxy_is_asked_and_looks_hosts_up_itself() {
    let proxy = Server::plain(Bytes::All(response("502 Bad Gateway", "", b""))).await;
    let lookup = Changing::new(&[&["10.0.0.1"]]);
    let settings = OutboundSettings {
        proxy: Proxy::parse(&format!("http://127.0.0.1:{}", proxy.port)),
        lookup: Some(lookup.clone()),
        ..OutboundSettings::default()
    };
    let client = ProviderClient::new(settings).unwrap();

    let response = ask(&client, "https://idp.example").await;
    let refused = ask(&client, "https://10.0.0.1").await;

    assert!(matches!(response, Some(ProviderError::Down { .. })), "{response:?}");
    assert!(matches!(refused, Some(ProviderError::Forbidden { .. })), "{refused:?}");
    assert_eq!((proxy.connections(), lookup.asked()), (1, 0));
}

#[test]
fn a_proxy_is_an_address_of_http() {
    assert!(Proxy::parse("http://user:password@proxy.example:3128").is_some());
    for bad in ["", "proxy.example", "socks5://proxy.example", "file:///x"] {
        assert!(Proxy::parse(bad).is_none(), "{bad}");
    }
}

#[test]
fn a_file_without_certificates_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("authority.pem");
    let refusal = || {
        let settings = OutboundSettings { ca_file: Some(path.clone()), ..development() };
        ProviderClient::new(settings).err()
    };
    assert!(matches!(refusal(), Some(InvalidOutbound::CaFile { .. })));
    std::fs::write(&path, "no certificate").unwrap();
    assert!(matches!(refusal(), Some(InvalidOutbound::CaFile { .. })));
}
