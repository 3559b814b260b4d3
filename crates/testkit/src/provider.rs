//! Fake identity provider on a port of 127.0.0.1. By default it conforms to the standards. A test can change any field
//! of its documents ([`LyingProvider::says`]), its signatures ([`LyingProvider::signs`]), and its HTTP responses
//! ([`LyingProvider::behaves`]). It has no pages: [`LyingProvider::consent`] and [`LyingProvider::deny`] return the URL
//! to which the browser would be redirected.

mod answers;
mod keys;
mod lies;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::identity::ProviderKey;
use latchkey_service::clock::Clock;
use latchkey_service::oauth::SecretText;
use latchkey_service::oauth::providers::{ConfiguredProvider, ProviderInput};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use url::Url;

use crate::time::ManualClock;
use keys::{SigningKey, jws};
use lies::Lies;

pub use lies::{Document, Endpoint, Manner, Signature};

/// Client id of the service at the provider.
pub const PROVIDER_CLIENT_ID: &str = "client-of-the-tests";
/// Client secret of the service at the provider.
pub const PROVIDER_CLIENT_SECRET: &str = "secret-of-the-client-of-the-tests";

/// Lifetime of id tokens, in seconds.
const ID_TOKEN_LIFE: i64 = 300;

/// Fake identity provider that runs until it is dropped. [`LyingProvider::person`] sets the user that it authenticates.
pub struct LyingProvider {
    address: SocketAddr,
    state: Arc<Mutex<ProviderState>>,
    server: JoinHandle<()>,
}

/// A user's consent, for which the provider has issued an authorization code that is not exchanged yet.
#[derive(Clone)]
struct Consent {
    nonce: Option<String>,
    code_challenge: String,
    redirect_uri: String,
}

struct ProviderState {
    issuer: String,
    clock: ManualClock,
    person: Value,
    lies: Lies,
    key: SigningKey,
    consents: BTreeMap<String, Consent>,
    asked: BTreeMap<Endpoint, usize>,
    count: u64,
}

impl LyingProvider {
    /// Starts a conforming provider on this clock. Its user is Ada with the verified address `ada@example.org`.
    pub async fn start(clock: &ManualClock) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(ProviderState {
            issuer: format!("http://{address}"),
            clock: clock.clone(),
            person: json!({
                "sub": "ada-at-the-provider",
                "email": "ada@example.org",
                "email_verified": true,
                "name": "Ada of the provider",
                "picture": "https://pictures.example.org/ada.png",
            }),
            lies: Lies::default(),
            key: SigningKey::new("key-1"),
            consents: BTreeMap::new(),
            asked: BTreeMap::new(),
            count: 0,
        }));
        let routes = answers::routes(Arc::clone(&state));
        let server = tokio::spawn(async move {
            let _ = axum::serve(listener, routes).await; // runs until the server is stopped
        });
        Self { address, state, server }
    }

    /// Returns the issuer URL, without a trailing slash.
    pub fn issuer(&self) -> String {
        self.state().issuer.clone()
    }

    /// Returns a request body that configures this provider as a custom one.
    pub fn custom(&self, key: &str) -> Value {
        json!({
            "key": key,
            "name": "Acme",
            "discoveryEndpoint": format!("{}/.well-known/openid-configuration", self.issuer()),
            "clientId": PROVIDER_CLIENT_ID,
            "clientSecret": PROVIDER_CLIENT_SECRET,
        })
    }

    /// Returns the configuration of this provider as in the settings file.
    pub fn pinned(&self, key: &str) -> ConfiguredProvider {
        let input = ProviderInput {
            name: Some("Acme".to_owned()),
            discovery_endpoint: Some(self.issuer()),
            client_id: Some(PROVIDER_CLIENT_ID.to_owned()),
            client_secret: Some(SecretText::new(PROVIDER_CLIENT_SECRET.to_owned())),
            ..ProviderInput::default()
        };
        ConfiguredProvider { key: ProviderKey::parse(key).expect("a key"), input }
    }

    /// Sets the claims of the authenticated user, in the id token and at userinfo.
    pub fn person(&self, claims: Value) {
        self.state().person = claims;
    }

    /// Changes a document by a merge patch (RFC 7396): `null` removes a member.
    pub fn says(&self, document: Document, patch: Value) {
        self.state().lies.patch(document, patch);
    }

    /// Sets the failure mode of an endpoint.
    pub fn behaves(&self, endpoint: Endpoint, manner: Manner) {
        self.state().lies.behave(endpoint, manner);
    }

    /// Sets the signature of id tokens.
    pub fn signs(&self, signature: Signature) {
        self.state().lies.signature = signature;
    }

    /// Removes all changes of documents, signatures and responses.
    pub fn is_honest(&self) {
        self.state().lies = Lies::default();
    }

    /// Replaces the signing key by a new one with another key id.
    pub fn rotates_its_key(&self) {
        let mut state = self.state();
        let name = format!("key-of-{}", state.next());
        state.key = SigningKey::new(&name);
    }

    /// Stops the provider, so that connections are refused.
    pub async fn goes_down(&mut self) {
        self.server.abort();
        let _ = (&mut self.server).await; // the port is closed when the server has ended
    }

    /// Returns the number of requests to an endpoint.
    pub fn asked(&self, endpoint: Endpoint) -> usize {
        self.state().asked.get(&endpoint).copied().unwrap_or_default()
    }

    /// Gives the user's consent at the authorization URL, and returns the URL to which the browser is redirected.
    #[track_caller]
    pub fn consent(&self, auth_url: &str) -> Url {
        let asked = self.authorization_request(auth_url);
        let mut state = self.state();
        let code = format!("code-{}", state.next());
        let consent = Consent {
            nonce: asked.get("nonce").cloned(),
            code_challenge: asked["code_challenge"].clone(),
            redirect_uri: asked["redirect_uri"].clone(),
        };
        state.consents.insert(code.clone(), consent);
        returned(&asked, &[("code", &code), ("iss", &state.issuer)])
    }

    /// Denies consent at the authorization URL, and returns the URL to which the browser is redirected.
    #[track_caller]
    pub fn deny(&self, auth_url: &str) -> Url {
        let asked = self.authorization_request(auth_url);
        let issuer = self.issuer();
        let said = "<b>The person said no.</b>";
        returned(&asked, &[("error", "access_denied"), ("error_description", said), ("iss", &issuer)])
    }

    /// Issues an id token directly, as the provider's SDK for native apps does.
    pub fn id_token(&self, nonce: Option<&str>) -> String {
        self.state().id_token(nonce)
    }

    /// Asserts the mandatory parameters of an authorization request.
    #[track_caller]
    fn authorization_request(&self, auth_url: &str) -> BTreeMap<String, String> {
        let url = Url::parse(auth_url).expect("an authorization URL");
        assert_eq!(url.origin().ascii_serialization(), format!("http://{}", self.address), "{auth_url}");
        let pairs: Vec<_> = url.query_pairs().into_owned().collect();
        let asked: BTreeMap<_, _> = pairs.iter().cloned().collect();
        assert_eq!(pairs.len(), asked.len(), "a parameter is given twice: {auth_url}");
        for (name, value) in
            [("response_type", "code"), ("client_id", PROVIDER_CLIENT_ID), ("code_challenge_method", "S256")]
        {
            assert_eq!(asked.get(name).map(String::as_str), Some(value), "{name} of {auth_url}");
        }
        assert_eq!(asked["code_challenge"].len(), 43, "{auth_url}");
        assert!(asked["scope"].split(' ').any(|scope| scope == "openid"), "{auth_url}");
        asked
    }

    fn state(&self) -> MutexGuard<'_, ProviderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Computes the S256 code challenge of a verifier (RFC 7636 section 4.2).
pub fn challenge_of(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()))
}

impl Drop for LyingProvider {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl ProviderState {
    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Issues a signed id token of the user.
    fn id_token(&self, nonce: Option<&str>) -> String {
        let now = self.clock.now().as_millis() / 1000;
        let mut claims = Map::from_iter([
            ("iss".to_owned(), json!(self.issuer)),
            ("aud".to_owned(), json!(PROVIDER_CLIENT_ID)),
            ("iat".to_owned(), json!(now)),
            ("exp".to_owned(), json!(now + ID_TOKEN_LIFE)),
        ]);
        if let Some(nonce) = nonce {
            claims.insert("nonce".to_owned(), json!(nonce));
        }
        claims.extend(self.person.as_object().cloned().unwrap_or_default());
        let claims = self.lies.told(Document::IdToken, Value::Object(claims));
        let header = json!({"alg": self.lies.signature.algorithm(), "kid": self.key.id(), "typ": "JWT"});
        jws(&self.key, self.lies.signature, &self.lies.told(Document::IdTokenHeader, header), &claims)
    }
}

/// Returns the redirect target with these parameters and the `state` of the authorization request.
fn returned(asked: &BTreeMap<String, String>, parameters: &[(&str, &str)]) -> Url {
    let mut url = Url::parse(&asked["redirect_uri"]).expect("a redirect URI");
    url.query_pairs_mut().extend_pairs(parameters).append_pair("state", &asked["state"]);
    url
}
