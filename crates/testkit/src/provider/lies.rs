//! What a provider lies about.

use std::collections::BTreeMap;

use serde_json::Value;

/// Something that the provider says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Document {
    /// Its metadata (`OpenID` Connect Discovery).
    Discovery,
    /// Its keys (RFC 7517).
    Jwks,
    /// The answer of the token endpoint.
    TokenAnswer,
    /// The claims of the id token.
    IdToken,
    /// The header of the id token.
    IdTokenHeader,
    /// The claims of userinfo.
    UserInfo,
}

/// Somewhere that the provider is asked.
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

/// How it answers.
#[derive(Debug, Clone)]
pub enum Manner {
    /// With this status and a document all the same.
    Status(u16),
    /// With a redirect (307) to this address.
    Redirect(String),
    /// With a body of more than a megabyte.
    Huge,
    /// With a body that never ends.
    Endless,
    /// With a byte now and then.
    Slow,
    /// Never.
    Silent,
    /// With something else than JSON.
    Garbage,
    /// With half of a body.
    CutOff,
}

/// How it signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signature {
    /// ES256, by the key of its key set.
    #[default]
    Honest,
    /// By another key under the same id.
    AnotherKey,
    /// By the right key, over other bytes.
    Broken,
    /// Not at all: `alg` is `none`.
    Missing,
    /// HS256, with the public key as the secret.
    PublicKeyAsSecret,
    /// HS256, with the client's secret.
    ClientSecret,
}

impl Signature {
    /// The `alg` that the header says.
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

    /// The document with the lies in it.
    pub(super) fn told(&self, document: Document, mut value: Value) -> Value {
        for patch in self.patches.get(&document).into_iter().flatten() {
            merge(&mut value, patch);
        }
        value
    }
}

/// RFC 7396.
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
