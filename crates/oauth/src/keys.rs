//! Public keys of a provider (RFC 7517) and their selection for a signature.

use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;

use crate::error::{IdTokenFault, ProviderError, Stage};

/// Maximum number of keys read from a key set.
const MOST: usize = 100;

/// The keys of a provider's key set that can verify signatures.
pub(crate) struct ProviderKeys(Vec<ProviderKey>);

struct ProviderKey {
    id: Option<String>,
    /// The key's own `alg`, if present.
    algorithm: Option<Algorithm>,
    kind: Kind,
    key: DecodingKey,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rsa,
    P256,
    P384,
    Ed25519,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    r#use: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl ProviderKeys {
    /// Parses a key set. Unsupported keys are skipped; a malformed set is an error.
    pub(crate) fn read(mut body: Value) -> Result<Self, ProviderError> {
        let Some(Value::Array(keys)) = body.get_mut("keys").map(Value::take) else {
            let reason = "there is no list of keys".to_owned();
            return Err(ProviderError::BadAnswer { stage: Stage::Keys, reason });
        };
        let read = keys.into_iter().take(MOST).filter_map(|key| read_key(serde_json::from_value(key).ok()?));
        Ok(Self(read.collect()))
    }

    /// Returns the number of keys.
    pub(crate) const fn count(&self) -> usize {
        self.0.len()
    }

    /// Selects the key of a signature: the one with this key id, or, for a token without a key id, the only one that
    /// fits the algorithm.
    pub(crate) fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Result<&DecodingKey, IdTokenFault> {
        let named = |key: &&ProviderKey| id.is_none() || key.id.as_deref() == id;
        let mut fitting = self.0.iter().filter(named).filter(|key| key.fits(algorithm));
        match (fitting.next(), fitting.next()) {
            (Some(key), None) => Ok(&key.key),
            _ => Err(IdTokenFault::UnknownKey),
        }
    }
}

impl ProviderKey {
    /// Returns `true` if the key's type and its `alg`, if present, fit the algorithm.
    fn fits(&self, algorithm: Algorithm) -> bool {
        kind_for(algorithm) == Some(self.kind) && self.algorithm.is_none_or(|own| own == algorithm)
    }
}

const fn kind_for(algorithm: Algorithm) -> Option<Kind> {
    use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};
    match algorithm {
        RS256 | RS384 | RS512 | PS256 | PS384 | PS512 => Some(Kind::Rsa),
        ES256 => Some(Kind::P256),
        ES384 => Some(Kind::P384),
        EdDSA => Some(Kind::Ed25519),
        _ => None,
    }
}

fn read_key(jwk: Jwk) -> Option<ProviderKey> {
    let is_for_signatures = jwk.r#use.as_deref().is_none_or(|usage| usage == "sig")
        && jwk.key_ops.as_ref().is_none_or(|ops| ops.iter().any(|op| op == "verify"));
    if !is_for_signatures {
        return None;
    }
    // A key with an unknown algorithm is skipped.
    let algorithm = jwk.alg.as_deref().map(str::parse).transpose().ok()?;
    let (x, y) = (jwk.x.as_deref(), jwk.y.as_deref());
    let (kind, key) = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
        ("RSA", _) => (Kind::Rsa, DecodingKey::from_rsa_components(jwk.n.as_deref()?, jwk.e.as_deref()?)),
        ("EC", Some("P-256")) => (Kind::P256, DecodingKey::from_ec_components(x?, y?)),
        ("EC", Some("P-384")) => (Kind::P384, DecodingKey::from_ec_components(x?, y?)),
        ("OKP", Some("Ed25519")) => (Kind::Ed25519, DecodingKey::from_ed_components(x?)),
        _ => return None,
    };
    Some(ProviderKey { id: jwk.kid, algorithm, kind, key: key.ok()? })
}

#[cfg(test)]
mod tests;
