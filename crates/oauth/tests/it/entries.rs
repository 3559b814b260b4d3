//! Documented responses of the providers and the identities expected from them.

use serde_json::{Value, json};

mod openid;
mod unverified;
mod verified;
mod without_address;

/// Expected client authentication.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Proof {
    Basic,
    BasicWithJson,
    Post,
}

/// A provider's responses and the expected identity.
pub(crate) struct Case {
    pub(crate) key: &'static str,
    pub(crate) authorize: &'static str,
    pub(crate) token: &'static str,
    pub(crate) proof: Proof,
    pub(crate) has_pkce: bool,
    /// Token response without the `id_token`.
    pub(crate) token_answer: Value,
    /// Claims of the `id_token` besides issuer, audience, dates and nonce; OpenID Connect only.
    pub(crate) claims: Option<Value>,
    /// Requests with the access token, and their responses.
    pub(crate) asked: Vec<(&'static str, Value)>,
    pub(crate) subject: &'static str,
    pub(crate) email: Option<&'static str>,
    pub(crate) is_verified: bool,
    pub(crate) name: Option<&'static str>,
    pub(crate) avatar: Option<&'static str>,
}

const ADA: &str = "ada@example.org";

fn bearer() -> Value {
    json!({"access_token": "the-access-token", "token_type": "Bearer", "expires_in": 3600})
}

/// A case without peculiarities, whose fields the providers override.
fn plain(key: &'static str, authorize: &'static str, token: &'static str) -> Case {
    Case {
        key,
        authorize,
        token,
        proof: Proof::Post,
        has_pkce: true,
        token_answer: bearer(),
        claims: None,
        asked: Vec::new(),
        subject: "1",
        email: Some(ADA),
        is_verified: false,
        name: Some("Ada Lovelace"),
        avatar: Some("https://pictures.example/ada.png"),
    }
}

pub(crate) fn all() -> Vec<Case> {
    [openid::cases(), verified::cases(), unverified::cases(), without_address::cases()]
        .into_iter()
        .flatten()
        .collect()
}
