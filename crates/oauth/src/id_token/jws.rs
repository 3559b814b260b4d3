//! Parsing and signature of an `id_token`: a JWS in compact serialisation (RFC 7515 section 7.1) with a JSON
//! payload.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, crypto};
use latchkey_domain::tokens::TokenHash;
use serde_json::Value;

use super::ALGORITHMS;
use crate::error::IdTokenFault;

/// Maximum length of an accepted `id_token` in bytes.
const LONGEST: usize = 32 * 1024;

/// A parsed `id_token` whose signature is not verified yet.
#[derive(Debug)]
pub(crate) struct Jws<'a> {
    signed: &'a str,
    payload: &'a str,
    signature: &'a str,
    /// Header parameter `alg`, one of [`ALGORITHMS`].
    pub(crate) algorithm: Algorithm,
    /// Header parameter `kid`.
    pub(crate) key_id: Option<String>,
}

impl<'a> Jws<'a> {
    /// Parses the three parts and the header. Key references in the header (`jku`, `jwk`, `x5u`) are ignored.
    pub(crate) fn parse(token: &'a str) -> Result<Self, IdTokenFault> {
        if token.len() > LONGEST {
            return Err(IdTokenFault::Form);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(IdTokenFault::Form)?;
        let (header, payload) = signed.split_once('.').ok_or(IdTokenFault::Form)?;
        if payload.contains('.') {
            return Err(IdTokenFault::Form);
        }
        let header = object(header)?;
        let algorithm = header["alg"].as_str().and_then(|name| name.parse().ok());
        let algorithm = algorithm.filter(|one| ALGORITHMS.contains(one)).ok_or(IdTokenFault::Algorithm)?;
        let is_jwt = match &header["typ"] {
            Value::Null => true,
            Value::String(kind) => {
                kind.eq_ignore_ascii_case("JWT") || kind.eq_ignore_ascii_case("application/jwt")
            }
            _ => false,
        };
        if !is_jwt || header.get("crit").is_some() {
            return Err(IdTokenFault::Type);
        }
        let key_id = match &header["kid"] {
            Value::Null => None,
            Value::String(id) => Some(id.clone()),
            _ => return Err(IdTokenFault::Form),
        };
        Ok(Self { signed, payload, signature, algorithm, key_id })
    }

    /// Verifies the signature and returns the claims.
    pub(crate) fn verify(&self, key: &DecodingKey) -> Result<Value, IdTokenFault> {
        let is_good = crypto::verify(self.signature, self.signed.as_bytes(), key, self.algorithm);
        if !is_good.unwrap_or(false) {
            return Err(IdTokenFault::Signature);
        }
        object(self.payload)
    }

    /// Parses the claims without verification. They only serve to reject a token before the provider's keys are
    /// fetched.
    pub(crate) fn unverified_claims(&self) -> Option<Value> {
        object(self.payload).ok()
    }

    /// Computes an identifier of the token for replay detection: a hash of header and payload. The signature is
    /// excluded, because ECDSA signatures are malleable.
    pub(crate) fn replay_key(&self) -> TokenHash {
        TokenHash::of(self.signed.as_bytes())
    }
}

fn object(part: &str) -> Result<Value, IdTokenFault> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| IdTokenFault::Form)?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|_| IdTokenFault::Form)?;
    if value.is_object() { Ok(value) } else { Err(IdTokenFault::Form) }
}
