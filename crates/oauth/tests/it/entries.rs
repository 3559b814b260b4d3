//! What the providers' documentation shows of their answers, and what must be read from them.

use serde_json::{Value, json};

mod openid;
mod unproved;
mod verified;
mod without_address;

/// How a client must have proved itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Proof {
    Basic,
    BasicWithJson,
    Post,
}

/// One provider: what it answers, and who that is.
pub(crate) struct Case {
    pub(crate) key: &'static str,
    pub(crate) authorize: &'static str,
    pub(crate) token: &'static str,
    pub(crate) proof: Proof,
    pub(crate) has_pkce: bool,
    /// Without the `id_token`.
    pub(crate) token_answer: Value,
    /// Of the `id_token`, besides issuer, audience, dates and nonce; for those who speak OpenID Connect.
    pub(crate) claims: Option<Value>,
    /// What is asked with the access token, and answered.
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

/// A case without quirks; what differs is said in its place.
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
    [openid::cases(), verified::cases(), unproved::cases(), without_address::cases()]
        .into_iter()
        .flatten()
        .collect()
}
