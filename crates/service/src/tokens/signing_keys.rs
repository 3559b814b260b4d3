//! The signing keys of access tokens: the current one, and replaced ones, which verify until their last token has
//! expired.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey};
use latchkey_domain::ids::KeyId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{NewSigningKey, StoredSigningKey};
use serde_json::{Value, json};

use super::claims::{Claims, encoded_header};
use super::verified_tokens::{VerifiedToken, VerifiedTokens};
use crate::entropy::Entropy;
use crate::error::{Error, Result};
use crate::secrets::SealingKey;
use crate::tokens::SigningAlgorithm;

/// Length of one coordinate on P-256, in bytes.
const COORDINATE: usize = 32;

/// A signing key, decrypted, with its public key and JWT header.
pub struct SigningKey {
    id: KeyId,
    kid: String,
    algorithm: SigningAlgorithm,
    pair: Pair,
    decoding: DecodingKey,
    encoded_header: String,
    jwk: Value,
    created_at: Timestamp,
    verify_until: Option<Timestamp>,
}

enum Pair {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
}

/// The current signing keys: the first one signs, all verify. The set has a cache of tokens verified with its keys.
pub struct KeySet {
    keys: Vec<SigningKey>,
    verified: VerifiedTokens,
}

/// Generates a private key in PKCS#8.
pub fn generate(algorithm: SigningAlgorithm) -> Result<Vec<u8>> {
    let random = SystemRandom::new();
    let document = match algorithm {
        SigningAlgorithm::Es256 => EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random),
        SigningAlgorithm::EdDsa => Ed25519KeyPair::generate_pkcs8v1(&random),
    };
    document
        .map(|document| document.as_ref().to_vec())
        .map_err(|_| Error::internal("a signing key could not be made"))
}

/// Generates a signing key and seals it for the store.
pub(crate) fn new_signing_key(
    algorithm: SigningAlgorithm,
    key: &SealingKey,
    entropy: &dyn Entropy,
    now: Timestamp,
) -> Result<NewSigningKey> {
    let id = KeyId::new(now, entropy.bytes());
    let pkcs8 = generate(algorithm)?;
    let sealed = key.seal(entropy, id.to_string().as_bytes(), &pkcs8).map_err(Error::internal)?;
    Ok(NewSigningKey { id, algorithm: algorithm.as_str().to_owned(), sealed, created_at: now })
}

impl SigningKey {
    /// Decrypts a stored key.
    pub fn open(stored: &StoredSigningKey, key: &SealingKey) -> Result<Self> {
        let damaged = || Error::internal(format!("signing key {} cannot be read", stored.id));
        let algorithm = SigningAlgorithm::parse(&stored.algorithm).ok_or_else(damaged)?;
        let kid = stored.id.to_string();
        let pkcs8 = key.open(kid.as_bytes(), &stored.sealed).map_err(Error::internal)?;
        let pair = Pair::read(algorithm, &pkcs8).ok_or_else(damaged)?;
        let (decoding, mut jwk) = pair.public().ok_or_else(damaged)?;
        for (name, value) in [("alg", algorithm.as_str()), ("kid", kid.as_str()), ("use", "sig")] {
            jwk[name] = Value::from(value);
        }
        Ok(Self {
            id: stored.id,
            encoded_header: encoded_header(algorithm, &kid),
            kid,
            algorithm,
            pair,
            decoding,
            jwk,
            created_at: stored.created_at,
            verify_until: stored.verify_until,
        })
    }

    #[must_use]
    pub const fn id(&self) -> KeyId {
        self.id
    }

    #[must_use]
    pub const fn created_at(&self) -> Timestamp {
        self.created_at
    }

    pub(crate) const fn verify_until(&self) -> Option<Timestamp> {
        self.verify_until
    }

    pub(crate) const fn decoding(&self) -> &DecodingKey {
        &self.decoding
    }

    pub(crate) const fn jwt_algorithm(&self) -> Algorithm {
        match self.algorithm {
            SigningAlgorithm::Es256 => Algorithm::ES256,
            SigningAlgorithm::EdDsa => Algorithm::EdDSA,
        }
    }

    /// Signs claims; returns the JWT.
    pub fn sign(&self, claims: &Claims) -> Result<String> {
        let payload = serde_json::to_vec(claims).map_err(Error::internal)?;
        let mut token = String::with_capacity(768);
        token.push_str(&self.encoded_header);
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(payload, &mut token);
        let signature = self.pair.sign(token.as_bytes())?;
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(signature, &mut token);
        Ok(token)
    }
}

impl Pair {
    fn read(algorithm: SigningAlgorithm, pkcs8: &[u8]) -> Option<Self> {
        match algorithm {
            SigningAlgorithm::Es256 => {
                EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8).ok().map(Self::Es256)
            }
            SigningAlgorithm::EdDsa => Ed25519KeyPair::from_pkcs8(pkcs8).ok().map(Self::EdDsa),
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>> {
        let failed = |_| Error::internal("a token could not be signed");
        match self {
            Self::Es256(pair) => pair
                .sign(&SystemRandom::new(), message)
                .map(|signature| signature.as_ref().to_vec())
                .map_err(failed),
            Self::EdDsa(pair) => {
                pair.try_sign(message).map(|signature| signature.as_ref().to_vec()).map_err(failed)
            }
        }
    }

    /// Derives the public key, for verification and as a JWK (RFC 7517, RFC 7518 section 6.2, RFC 8037).
    fn public(&self) -> Option<(DecodingKey, Value)> {
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match self {
            Self::Es256(pair) => {
                // An uncompressed point is encoded as the byte 4, then x, then y.
                let point = pair.public_key().as_ref().strip_prefix(&[4])?;
                let (x, y) = point.split_at_checked(COORDINATE)?;
                let (x, y) = (encode(x), encode(y));
                let decoding = DecodingKey::from_ec_components(&x, &y).ok()?;
                Some((decoding, json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y })))
            }
            Self::EdDsa(pair) => {
                let x = encode(pair.public_key().as_ref());
                let decoding = DecodingKey::from_ed_components(&x).ok()?;
                Some((decoding, json!({ "kty": "OKP", "crv": "Ed25519", "x": x })))
            }
        }
    }
}

impl KeySet {
    /// Decrypts stored keys. The first must be the key that signs; otherwise the call fails.
    pub fn open(stored: &[StoredSigningKey], key: &SealingKey) -> Result<Self> {
        let opened: Vec<_> =
            stored.iter().map(|stored| SigningKey::open(stored, key)).collect::<Result<_>>()?;
        match opened.first() {
            Some(first) if first.verify_until.is_none() => {
                Ok(Self { keys: opened, verified: VerifiedTokens::default() })
            }
            _ => Err(Error::internal("there is no key that signs")),
        }
    }

    /// Returns the key that signs new tokens.
    pub fn signing(&self) -> Result<&SigningKey> {
        self.keys.first().ok_or_else(|| Error::internal("there is no key that signs"))
    }

    /// Signs the claims of a new token, and caches them, because the instance that issues a token need not verify it.
    pub(crate) fn issue(&self, claims: &Claims) -> Result<String> {
        let token = self.signing()?.sign(claims)?;
        self.verified.remember(&token, VerifiedToken::of(claims, None));
        Ok(token)
    }

    /// Finds the key with this id, if it still verifies tokens at `now`.
    #[must_use]
    pub fn find(&self, kid: &str, now: Timestamp) -> Option<&SigningKey> {
        self.accepted(now).find(|key| key.kid == kid)
    }

    pub(crate) const fn verified(&self) -> &VerifiedTokens {
        &self.verified
    }

    /// Returns the public keys that verify tokens at `now`, as a JWK set.
    #[must_use]
    pub fn jwks(&self, now: Timestamp) -> Value {
        json!({ "keys": self.accepted(now).map(|key| &key.jwk).collect::<Vec<_>>() })
    }

    fn accepted(&self, now: Timestamp) -> impl Iterator<Item = &SigningKey> {
        self.keys.iter().filter(move |key| key.verify_until.is_none_or(|until| now < until))
    }
}
