//! Signing key of the fake provider, and its valid and invalid signatures.

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::PROVIDER_CLIENT_SECRET;
use super::lies::Signature;

/// P-256 key pair with its key id.
pub(super) struct SigningKey {
    id: String,
    pair: EcdsaKeyPair,
}

impl SigningKey {
    pub(super) fn new(id: &str) -> Self {
        Self { id: id.to_owned(), pair: new_pair() }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Public key as a JWK.
    pub(super) fn jwk(&self) -> Value {
        let point = self.pair.public_key().as_ref(); // the byte 4, then x, then y
        json!({
            "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.id,
            "x": URL_SAFE_NO_PAD.encode(&point[1..33]),
            "y": URL_SAFE_NO_PAD.encode(&point[33..]),
        })
    }

    /// Returns the public key as PEM. Tests use it as the secret of an HMAC signature, which a faulty
    /// verifier accepts if it takes the algorithm from the token.
    fn pem(&self) -> String {
        let der: PublicKeyX509Der<'_> = self.pair.public_key().as_der().expect("a public key");
        format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(der.as_ref()))
    }
}

/// Makes a JWS in compact serialization with this kind of signature.
pub(super) fn jws(key: &SigningKey, signature: Signature, header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(header), part(claims));
    let signature = match signature {
        Signature::Honest => ecdsa(&key.pair, signed.as_bytes()),
        Signature::AnotherKey => ecdsa(&new_pair(), signed.as_bytes()),
        Signature::Broken => ecdsa(&key.pair, b"something else"),
        Signature::Missing => Vec::new(),
        Signature::PublicKeyAsSecret => hs256(key.pem().as_bytes(), signed.as_bytes()),
        Signature::ClientSecret => hs256(PROVIDER_CLIENT_SECRET.as_bytes(), signed.as_bytes()),
    };
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn new_pair() -> EcdsaKeyPair {
    EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key pair")
}

fn ecdsa(pair: &EcdsaKeyPair, bytes: &[u8]) -> Vec<u8> {
    pair.sign(&SystemRandom::new(), bytes).expect("a signature").as_ref().to_vec()
}

fn hs256(secret: &[u8], bytes: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), bytes).as_ref().to_vec()
}
