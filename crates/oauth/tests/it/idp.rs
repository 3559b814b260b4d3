//! A mock OpenID Connect provider that can return invalid responses.

use aws_lc_rs::signature::Ed25519KeyPair;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use latchkey_oauth::{Provider, ProviderClient, ProviderError, ProviderIdentity};
use serde_json::{Value, json};

use crate::fixtures::{self, NONCE, NOW, SECOND, credentials};
use crate::mock::Mock;

/// A key pair that signs tokens.
pub(crate) struct Signer {
    key: EncodingKey,
    pub(crate) algorithm: Algorithm,
    id: &'static str,
}

impl Signer {
    pub(crate) fn new(algorithm: Algorithm, id: &'static str) -> Self {
        let key = match algorithm {
            Algorithm::ES256 => ec(&rcgen::PKCS_ECDSA_P256_SHA256),
            Algorithm::ES384 => ec(&rcgen::PKCS_ECDSA_P384_SHA384),
            Algorithm::EdDSA => {
                let pair = Ed25519KeyPair::generate().unwrap();
                EncodingKey::from_ed_der(pair.to_pkcs8v1().unwrap().as_ref())
            }
            _ => {
                let size = rcgen::RsaKeySize::_2048;
                let pair = rcgen::KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, size).unwrap();
                EncodingKey::from_rsa_pem(pair.serialize_pem().as_bytes()).unwrap()
            }
        };
        Self { key, algorithm, id }
    }

    /// Public key as JWK.
    pub(crate) fn public(&self) -> Value {
        let jwk = Jwk::from_encoding_key(&self.key, self.algorithm).unwrap();
        let mut jwk = serde_json::to_value(jwk).unwrap();
        jwk["kid"] = json!(self.id);
        jwk["use"] = json!("sig");
        jwk
    }

    pub(crate) fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: Some(self.id.to_owned()), ..Header::new(self.algorithm) };
        encode(&header, claims, &self.key).unwrap()
    }
}

fn ec(algorithm: &'static rcgen::SignatureAlgorithm) -> EncodingKey {
    let pair = rcgen::KeyPair::generate_for(algorithm).unwrap();
    EncodingKey::from_ec_pem(pair.serialize_pem().as_bytes()).unwrap()
}

/// The provider with endpoints at `https://idp.example`, served by the mock.
pub(crate) struct Idp {
    pub(crate) mock: Mock,
    pub(crate) signer: Signer,
    pub(crate) client: ProviderClient,
    pub(crate) provider: Provider,
}

pub(crate) const DISCOVERY: &str = "https://idp.example/.well-known/openid-configuration";
pub(crate) const KEYS: &str = "https://idp.example/keys";
pub(crate) const TOKEN: &str = "https://idp.example/token";
pub(crate) const USERINFO: &str = "https://idp.example/userinfo";

impl Idp {
    pub(crate) async fn start() -> Self {
        Self::with(Algorithm::ES256).await
    }

    pub(crate) async fn with(algorithm: Algorithm) -> Self {
        let mock = Mock::start().await;
        let signer = Signer::new(algorithm, "key-1");
        let provider = Provider::custom("acme", &mock.at(DISCOVERY), credentials()).unwrap();
        let idp = Self { mock, signer, client: fixtures::client(), provider };
        idp.mock.on(DISCOVERY, idp.document());
        idp.mock.on(KEYS, json!({ "keys": [idp.signer.public()] }));
        idp.response(&idp.claims());
        idp
    }

    pub(crate) fn issuer(&self) -> String {
        self.mock.at("https://idp.example")
    }

    pub(crate) fn document(&self) -> Value {
        json!({
            "issuer": self.issuer(),
            "authorization_endpoint": self.mock.at("https://idp.example/authorize"),
            "token_endpoint": self.mock.at(TOKEN),
            "userinfo_endpoint": self.mock.at(USERINFO),
            "jwks_uri": self.mock.at(KEYS),
            "id_token_signing_alg_values_supported":
                ["none", "HS256", "RS256", "PS256", "ES256", "ES384", "EdDSA"],
        })
    }

    /// All claims of an identity, so that userinfo is not fetched.
    pub(crate) fn claims(&self) -> Value {
        json!({
            "iss": self.issuer(),
            "aud": "the-client",
            "sub": "subject-1",
            "exp": SECOND + 300,
            "iat": SECOND,
            "nonce": NONCE,
            "email": "ada@example.org",
            "email_verified": true,
            "name": "Ada Lovelace",
            "picture": "https://idp.example/ada.png",
        })
    }

    /// The claims with one changed; `null` removes it.
    pub(crate) fn claims_with(&self, name: &str, value: Value) -> Value {
        let mut claims = self.claims();
        claims[name] = value;
        claims
    }

    /// Makes the token endpoint return a token with these claims.
    pub(crate) fn response(&self, claims: &Value) {
        self.answer_token(&self.signer.sign(claims));
    }

    pub(crate) fn answer_token(&self, id_token: &str) {
        let response =
            json!({"access_token": "the-access-token", "id_token": id_token, "token_type": "Bearer"});
        self.mock.on(TOKEN, response);
    }

    pub(crate) async fn identify(&self) -> Result<ProviderIdentity, ProviderError> {
        self.client.identify(&self.provider, &fixtures::grant(), NOW).await
    }
}
