//! Misbehaviour of the provider.

use std::collections::BTreeMap;

use serde_json::Value;

/// A document of the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Document {
    /// Metadata (`OpenID` Connect Discovery).
    Discovery,
    /// Keys (RFC 7517).
    Jwks,
    /// Response of the token endpoint.
    TokenAnswer,
    /// Claims of the id token.
    IdToken,
    /// Header of the id token.
    IdTokenHeader,
    /// Claims of userinfo.
    UserInfo,
}

/// An endpoint of the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// `/.well-known/openid-configuration`
    Discovery,
    /// `/jwks`
    Jwks,
    /// `/token`
    Token,
    /// `/userinfo`
    UserInfo,
}

/// Failure mode of an endpoint.
#[derive(Debug, Clone)]
pub enum Manner {
    /// This status, with a valid document.
    Status(u16),
    /// Redirect (307) to this URL.
    Redirect(String),
    /// Body of more than a megabyte.
    Huge,
    /// Endless body.
    Endless,
    /// One byte from time to time.
    Slow,
    /// No response.
    Silent,
    /// Not JSON.
    Garbage,
    /// Truncated body.
    CutOff,
}

/// Signature of id tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signature {
    /// ES256 with the published key.
    #[default]
    Honest,
    /// Another key under the same key id.
    AnotherKey,
    /// The right key over other bytes.
    Broken,
    /// None: `alg` is `none`.
    Missing,
    /// HS256 with the public key as the secret.
    PublicKeyAsSecret,
    /// HS256 with the client secret.
    ClientSecret,
}

impl Signature {
    /// Value of `alg` in the header.
    pub(super) fn algorithm(self) -> &'static str {
        match self {
            Self::Honest | Self::AnotherKey | Self::Broken => "ES256",
            Self::Missing => "none",
            Self::PublicKeyAsSecret | Self::ClientSecret => "HS256",
        }
    }
}

#[derive(Default)]
pub(super) struct Lies {
    patches: BTreeMap<Document, Vec<Value>>,
    manners: BTreeMap<Endpoint, Manner>,
    pub(super) signature: Signature,
}

impl Lies {
    pub(super) fn patch(&mut self, document: Document, patch: Value) {
        self.patches.entry(document).or_default().push(patch);
    }

    pub(super) fn behave(&mut self, endpoint: Endpoint, manner: Manner) {
        self.manners.insert(endpoint, manner);
    }

    pub(super) fn manner(&self, endpoint: Endpoint) -> Option<Manner> {
        self.manners.get(&endpoint).cloned()
    }

    /// Document with the configured changes.
    pub(super) fn told(&self, document: Document, mut value: Value) -> Value {
        for patch in self.patches.get(&document).into_iter().flatten() {
            merge(&mut value, patch);
        }
        value
    }
}

/// Merge patch (RFC 7396).
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Value::Object(target) = target else { return };
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
        } else {
            merge(target.entry(key).or_insert(Value::Null), value);
        }
    }
}
