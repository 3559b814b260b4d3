//! Fixtures: a development client, credentials, a grant, and the time.

use std::sync::LazyLock;
use std::time::Duration;

use latchkey_domain::time::Timestamp;
use latchkey_oauth::{
    AuthorizationRequest, ClientSecret, ClientSettings, Grant, Networks, OutboundSettings, PkceVerifier,
    ProviderClient, SecretText,
};

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_772_366_400_000);
pub(crate) const SECOND: i64 = 1_772_366_400;
pub(crate) const CALLBACK: &str = "https://id.example/callback";
pub(crate) const NONCE: &str = "the-nonce";

static VERIFIER: LazyLock<PkceVerifier> = LazyLock::new(|| PkceVerifier::new([7; 32]));

pub(crate) fn verifier() -> &'static PkceVerifier {
    &VERIFIER
}

pub(crate) fn later(seconds: u64) -> Timestamp {
    NOW.plus(Duration::from_secs(seconds))
}

pub(crate) fn development() -> OutboundSettings {
    let networks = Networks { loopback: true, private: false };
    OutboundSettings { networks, ..OutboundSettings::default() }
}

pub(crate) fn client() -> ProviderClient {
    ProviderClient::new(development()).unwrap()
}

pub(crate) fn credentials() -> ClientSettings {
    ClientSettings {
        client_id: "the-client".to_owned(),
        secret: ClientSecret::Text(SecretText::new("the-secret".to_owned())),
        scopes: None,
        native_client_ids: vec!["the-app".to_owned()],
        tenant: None,
    }
}

pub(crate) fn apple_credentials() -> ClientSettings {
    let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let secret = ClientSecret::AppleKey {
        team_id: "TEAM123456".to_owned(),
        key_id: "KEY1234567".to_owned(),
        private_key: SecretText::new(pair.serialize_pem()),
    };
    ClientSettings { secret, ..credentials() }
}

pub(crate) fn start() -> AuthorizationRequest<'static> {
    AuthorizationRequest {
        redirect_uri: CALLBACK,
        state: "the-state",
        nonce: NONCE,
        pkce: verifier(),
        hints: &[],
    }
}

pub(crate) fn grant() -> Grant<'static> {
    Grant {
        code: "the-code",
        issuer: None,
        user: None,
        redirect_uri: CALLBACK,
        nonce: NONCE,
        pkce: verifier(),
    }
}
