//! Ways in which the fake provider can misbehave.

use std::collections::BTreeMap;

use serde_json::Value;

/// Document of the provider whose content a test can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Document {
    /// Provider metadata (`OpenID` Connect Discovery).
    Discovery,
    /// JSON Web Key Set (RFC 7517).
    Jwks,
    /// Response of the token endpoint.
    TokenAnswer,
    /// Claims of the id token.
    IdToken,
    /// Header of the id token.
    IdTokenHeader,
    /// Claims in the response of the userinfo endpoint.
    UserInfo,
}

/// Endpoint of the provider.
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
    /// Responds with this status, and a valid document.
    Status(u16),
    /// Redirects (307) to this URL.
    Redirect(String),
    /// Sends a body of more than a megabyte.
    Huge,
    /// Sends a body that never ends.
    Endless,
    /// Sends one byte from time to time.
    Slow,
    /// Accepts the request and never responds.
    Silent,
    /// Sends a body that is not JSON.
    Garbage,
    /// Closes the connection in the middle of the body.
    CutOff,
}

/// Signature of the id tokens that the provider issues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signature {
    /// ES256 with the published key: a valid signature.
    #[default]
    Honest,
    /// ES256 with another key under the published key id.
    AnotherKey,
    /// Signature of the published key over other bytes.
    Broken,
    /// No signature: `alg` is `none`.
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

    /// Returns the document with the changes that the test configured.
    pub(super) fn told(&self, document: Document, mut value: Value) -> Value {
        for patch in self.patches.get(&document).into_iter().flatten() {
            merge(&mut value, patch);
        }
        value
    }
}

/// Applies a JSON merge patch (RFC 7396).
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
