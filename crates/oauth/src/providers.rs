//! The providers, as data. What an entry can say is here, the entries are in `table`.

mod table;

pub use table::BUILT_IN;
pub(crate) use table::CUSTOM;

/// One provider. Whatever is special about it is said here, not in code of its own.
#[derive(Debug, PartialEq)]
pub struct Entry {
    /// Its key in paths and settings, lower case.
    pub key: &'static str,
    /// What people call it.
    pub name: &'static str,
    pub(crate) protocol: Protocol,
    /// What the client is called in requests: `client_id`, but for TikTok.
    pub(crate) client_id_field: &'static str,
    pub(crate) client_auth: ClientAuth,
    pub(crate) pkce: Pkce,
    pub(crate) scopes: Scopes,
    /// Parameters of the authorization request that this provider wants besides.
    pub(crate) authorization_parameters: &'static [(&'static str, &'static str)],
}

impl Entry {
    /// True where `id_token`s of native apps can be taken.
    #[must_use]
    pub const fn has_id_tokens(&self) -> bool {
        matches!(self.protocol, Protocol::OpenId { .. })
    }

    /// True where the client proves itself with Apple's key instead of a secret.
    #[must_use]
    pub fn needs_apple_key(&self) -> bool {
        self.client_auth == ClientAuth::AppleKey
    }
}

/// The entry with this key.
#[must_use]
pub fn built_in(key: &str) -> Option<&'static Entry> {
    BUILT_IN.iter().find(|entry| entry.key == key)
}

/// What is spoken.
#[derive(Debug, PartialEq)]
pub(crate) enum Protocol {
    /// OpenID Connect: endpoints and keys by discovery.
    OpenId {
        /// The issuer. `{tenant}` stands for the configured tenant.
        issuer: &'static str,
    },
    /// OAuth 2.0 with an interface of the provider's own for who it is.
    OAuth {
        /// Where people are sent to.
        authorize: &'static str,
        /// Where the code is exchanged.
        token: &'static str,
    },
}

/// How the client proves itself at the token endpoint (RFC 6749 section 2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientAuth {
    /// By HTTP Basic.
    Basic,
    /// By HTTP Basic, with a body in JSON.
    BasicWithJson,
    /// In the body.
    Post,
    /// In the body, a secret signed with Apple's key.
    AppleKey,
    /// As the discovery document says.
    Discovered,
}

/// Whether the provider takes a code challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pkce {
    /// S256 (RFC 7636).
    S256,
    /// It does not, or refuses it.
    Unsupported,
}

/// What is asked for.
#[derive(Debug, PartialEq)]
pub(crate) struct Scopes {
    /// Where the operator says nothing.
    pub usual: &'static [&'static str],
    /// Whatever the operator says.
    pub needed: &'static [&'static str],
    /// What stands between two.
    pub separator: &'static str,
}
