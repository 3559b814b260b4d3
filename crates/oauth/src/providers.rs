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
    /// What the client is called in requests: `client_id`, but at `TikTok`.
    pub(crate) client_id_field: &'static str,
    pub(crate) client_auth: ClientAuth,
    pub(crate) pkce: Pkce,
    pub(crate) scopes: Scopes,
    /// Parameters of the authorization request that this provider wants besides.
    pub(crate) parameters: &'static [(&'static str, &'static str)],
    /// Whether its native apps hand it the SHA-256 of their nonce, and keep the nonce secret.
    pub(crate) hashes_nonces: bool,
    pub(crate) facts: Facts,
}

/// The issuer of identities whose provider has none.
const NO_ISSUER: &str = "";

impl Entry {
    /// The issuer that identities of this provider have; empty where it has none, `None` where each tenant has its own.
    #[must_use]
    pub fn issuer(&self) -> Option<&'static str> {
        match self.protocol {
            Protocol::OpenId { issuer, .. } if issuer.contains("{tenant}") => None,
            Protocol::OpenId { issuer, .. } => Some(issuer),
            Protocol::OAuth { .. } => Some(NO_ISSUER),
        }
    }

    /// True where `id_token`s of native apps can be taken.
    #[must_use]
    pub const fn has_id_tokens(&self) -> bool {
        matches!(self.protocol, Protocol::OpenId { .. })
    }

    /// True where the client can prove itself with Apple's key instead of a secret.
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
    /// OpenID Connect: token endpoint and keys by discovery, facts from the `id_token`.
    OpenId {
        /// The issuer. `{tenant}` stands for the configured tenant.
        issuer: &'static str,
        /// Where people are sent to, with the same `{tenant}`; `None` where only discovery knows.
        authorize: Option<&'static str>,
        /// Other spellings of it that the provider's documentation has for `iss`.
        aliases: &'static [&'static str],
        /// Whether userinfo is asked for what the `id_token` lacks.
        userinfo: Userinfo,
    },
    /// OAuth 2.0 with an interface of the provider's own for who it is.
    OAuth {
        /// Where people are sent to.
        authorize: &'static str,
        /// Where the code is exchanged.
        token: &'static str,
    },
}

/// Whether userinfo adds something to an `id_token`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Userinfo {
    /// Where there is such an endpoint and the `id_token` lacks something.
    WhereLacking,
    /// It has nothing more.
    Never,
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

/// How it is read who signed in. Places are JSON pointers (RFC 6901).
#[derive(Debug, PartialEq)]
pub(crate) struct Facts {
    pub source: Source,
    /// The lasting name. Several parts are joined by colons: some providers' names are unique only together with that of
    /// an organisation.
    pub subject: &'static [&'static str],
    pub email: Option<&'static str>,
    pub verified: Verified,
    /// The first of these that is there.
    pub name: &'static [&'static str],
    pub avatar: Avatar,
}

/// Where the facts are.
#[derive(Debug, PartialEq)]
pub(crate) enum Source {
    /// In the `id_token`, and in userinfo.
    IdToken,
    /// In the `id_token`; the name comes beside the first callback and never again, in `user` (Apple).
    IdTokenAndCallback,
    /// In what this address answers to the access token.
    Profile {
        url: &'static str,
        /// Headers that it wants.
        headers: &'static [(&'static str, &'static str)],
    },
    /// In the answer of the token endpoint.
    TokenAnswer,
}

/// Whether the holder of the mailbox is known.
#[derive(Debug, PartialEq)]
pub(crate) enum Verified {
    /// The provider does not say so, or not of the mailbox.
    Never,
    /// Where this is the JSON value `true`.
    True(&'static str),
    /// Where this is `true` or the text `"true"`, because the provider's documentation has both.
    TrueOrText(&'static str),
    /// As the primary one of a list says.
    Listed(EmailList),
}

/// An address that answers with all email addresses of the person.
#[derive(Debug, PartialEq)]
pub(crate) struct EmailList {
    pub url: &'static str,
    /// Where the list is in the answer.
    pub list: &'static str,
    /// Fields of each: the address, whether it is the primary one, whether it is verified.
    pub address: &'static str,
    pub primary: &'static str,
    pub verified: &'static str,
}

/// The picture.
#[derive(Debug, PartialEq)]
pub(crate) enum Avatar {
    /// There is none that everybody could see.
    None,
    /// Its address is here.
    At(&'static str),
    /// Its address is made of this, with the values of the pointers in braces.
    Template(&'static str),
}
