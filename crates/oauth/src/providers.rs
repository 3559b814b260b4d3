//! Providers as data: the vocabulary of entries; the entries are in `table`.

mod table;

pub use table::BUILT_IN;
pub(crate) use table::CUSTOM;

/// A provider. All its peculiarities are data, not code.
#[derive(Debug, PartialEq)]
pub struct Entry {
    /// Key in paths and settings, lower case.
    pub key: &'static str,
    /// Display name.
    pub name: &'static str,
    pub(crate) protocol: Protocol,
    /// Name of the client id parameter: `client_id`, except at `TikTok`.
    pub(crate) client_id_field: &'static str,
    pub(crate) client_auth: ClientAuth,
    pub(crate) pkce: Pkce,
    pub(crate) scopes: Scopes,
    /// Additional parameters of the authorization request.
    pub(crate) parameters: &'static [(&'static str, &'static str)],
    /// True if native apps send the provider the SHA-256 of their nonce and keep the nonce secret.
    pub(crate) hashes_nonces: bool,
    pub(crate) mapping: FieldMapping,
}

/// Issuer of identities from a provider without one.
const NO_ISSUER: &str = "";

impl Entry {
    /// Issuer of this provider's identities; empty if it has none, `None` if each tenant has its own.
    #[must_use]
    pub fn issuer(&self) -> Option<&'static str> {
        match self.protocol {
            Protocol::OpenId { issuer, .. } if issuer.contains("{tenant}") => None,
            Protocol::OpenId { issuer, .. } => Some(issuer),
            Protocol::OAuth { .. } => Some(NO_ISSUER),
        }
    }

    /// True if `id_token`s of native apps are supported.
    #[must_use]
    pub const fn has_id_tokens(&self) -> bool {
        matches!(self.protocol, Protocol::OpenId { .. })
    }

    /// True if the client can authenticate with Apple's key instead of a secret.
    #[must_use]
    pub fn needs_apple_key(&self) -> bool {
        self.client_auth == ClientAuth::AppleKey
    }
}

/// Finds the entry with this key.
#[must_use]
pub fn built_in(key: &str) -> Option<&'static Entry> {
    BUILT_IN.iter().find(|entry| entry.key == key)
}

/// Protocol of a provider.
#[derive(Debug, PartialEq)]
pub(crate) enum Protocol {
    /// OpenID Connect: token endpoint and keys by discovery, identity from the `id_token`.
    OpenId {
        /// Issuer; `{tenant}` stands for the configured tenant.
        issuer: &'static str,
        /// Authorization endpoint with the same `{tenant}`; `None` if only discovery names it.
        authorize: Option<&'static str>,
        /// Other spellings of the issuer that the provider documents for `iss`.
        aliases: &'static [&'static str],
        /// Use of the userinfo endpoint.
        userinfo: Userinfo,
    },
    /// OAuth 2.0 with a proprietary profile endpoint.
    OAuth {
        /// Authorization endpoint.
        authorize: &'static str,
        /// Token endpoint.
        token: &'static str,
    },
}

/// Use of the userinfo endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Userinfo {
    /// Fetched if the `id_token` lacks data.
    WhereLacking,
    /// Never fetched, because it has no further data.
    Never,
}

/// Client authentication at the token endpoint (RFC 6749 section 2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientAuth {
    /// HTTP Basic.
    Basic,
    /// HTTP Basic with a JSON body.
    BasicWithJson,
    /// Client secret in the body.
    Post,
    /// Secret signed with Apple's key, in the body.
    AppleKey,
    /// Method announced by discovery.
    Discovered,
}

/// Support of PKCE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pkce {
    /// S256 (RFC 7636).
    S256,
    /// Not supported or refused.
    Unsupported,
}

/// Requested scopes.
#[derive(Debug, PartialEq)]
pub(crate) struct Scopes {
    /// Defaults, replaced by the operator's.
    pub usual: &'static [&'static str],
    /// Required, always added.
    pub needed: &'static [&'static str],
    /// Separator.
    pub separator: &'static str,
}

/// Mapping of the provider's responses to an identity. Fields are JSON pointers (RFC 6901).
#[derive(Debug, PartialEq)]
pub(crate) struct FieldMapping {
    pub source: Source,
    /// Stable subject. Several parts are joined by colons: some providers' subjects are unique only within an
    /// organisation.
    pub subject: &'static [&'static str],
    pub email: Option<&'static str>,
    pub verified: Verified,
    /// Candidates in order of preference.
    pub name: &'static [&'static str],
    pub avatar: Avatar,
}

/// Document with the identity.
#[derive(Debug, PartialEq)]
pub(crate) enum Source {
    /// The `id_token`, and userinfo.
    IdToken,
    /// The `id_token`; the name comes only with the first callback, in `user` (Apple).
    IdTokenAndCallback,
    /// Response of this URL to the access token.
    Profile {
        url: &'static str,
        /// Required headers.
        headers: &'static [(&'static str, &'static str)],
    },
    /// The token response.
    TokenResponse,
}

/// Evidence that the email address is verified.
#[derive(Debug, PartialEq)]
pub(crate) enum Verified {
    /// None, or not about the mailbox.
    Never,
    /// JSON value `true` at this pointer.
    True(&'static str),
    /// `true` or the string `"true"` at this pointer, both documented by the provider.
    TrueOrText(&'static str),
    /// Flag of the primary address in a list.
    Listed(EmailList),
}

/// An endpoint with all email addresses of the user.
#[derive(Debug, PartialEq)]
pub(crate) struct EmailList {
    pub url: &'static str,
    /// Pointer to the list.
    pub list: &'static str,
    /// Fields of an element: address, primary flag, verified flag.
    pub address: &'static str,
    pub primary: &'static str,
    pub verified: &'static str,
}

/// Picture of the user.
#[derive(Debug, PartialEq)]
pub(crate) enum Avatar {
    /// No publicly accessible picture.
    None,
    /// URL at this pointer.
    At(&'static str),
    /// URL template with pointers in braces.
    Template(&'static str),
}
