//! Types that describe an identity provider as data. The entries of the provider table are in `table`.

mod table;

pub use table::BUILT_IN;
pub(crate) use table::CUSTOM;

/// An entry of the provider table. It describes all peculiarities of a provider as data, so that no provider needs
/// code of its own.
#[derive(Debug, PartialEq)]
pub struct Entry {
    /// The provider's key in paths and settings, in lower case.
    pub key: &'static str,
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

/// Issuer of identities from a provider without an issuer.
const NO_ISSUER: &str = "";

impl Entry {
    /// Returns the issuer of this provider's identities; empty if the provider has none, `None` if each tenant has its
    /// own.
    #[must_use]
    pub fn issuer(&self) -> Option<&'static str> {
        match self.protocol {
            Protocol::OpenId { issuer, .. } if issuer.contains("{tenant}") => None,
            Protocol::OpenId { issuer, .. } => Some(issuer),
            Protocol::OAuth { .. } => Some(NO_ISSUER),
        }
    }

    /// Returns `true` if sign-in with an `id_token` of a native app is supported.
    #[must_use]
    pub const fn has_id_tokens(&self) -> bool {
        matches!(self.protocol, Protocol::OpenId { .. })
    }

    /// Returns `true` if this service authenticates at the provider with Apple's private key instead of a client
    /// secret.
    #[must_use]
    pub fn needs_apple_key(&self) -> bool {
        self.client_auth == ClientAuth::AppleKey
    }
}

/// Finds a built-in provider by its key.
#[must_use]
pub fn built_in(key: &str) -> Option<&'static Entry> {
    BUILT_IN.iter().find(|entry| entry.key == key)
}

/// Returns the keys and names of all built-in providers.
pub fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    BUILT_IN.iter().map(|entry| (entry.key, entry.name))
}

/// The protocol by which a provider identifies users.
#[derive(Debug, PartialEq)]
pub(crate) enum Protocol {
    /// OpenID Connect: token endpoint and keys by discovery, identity from the `id_token`.
    OpenId {
        /// Issuer; `{tenant}` is replaced by the configured tenant.
        issuer: &'static str,
        /// Authorization endpoint; `{tenant}` is replaced by the configured tenant. `None` if the discovery document
        /// contains the endpoint.
        authorize: Option<&'static str>,
        /// Other spellings of the issuer that the provider documents for `iss`.
        aliases: &'static [&'static str],
        userinfo: Userinfo,
    },
    /// OAuth 2.0 without OpenID Connect. The user's profile comes from an endpoint that only this provider defines.
    OAuth { authorize: &'static str, token: &'static str },
}

/// The rule when to fetch the userinfo endpoint of OpenID Connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Userinfo {
    /// Userinfo is fetched if the `id_token` lacks fields of the identity, such as the email address.
    WhereLacking,
    /// Userinfo is never fetched, because it has no more data than the `id_token`.
    Never,
}

/// Client authentication at the token endpoint (RFC 6749 section 2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientAuth {
    /// HTTP Basic with a form as body.
    Basic,
    /// HTTP Basic with JSON as body.
    BasicWithJson,
    /// The client secret is a field of the body.
    Post,
    /// A secret signed with Apple's private key is a field of the body.
    AppleKey,
    /// The discovery document announces the method.
    Discovered,
}

/// A provider's support of PKCE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pkce {
    /// The method S256 (RFC 7636).
    S256,
    /// The provider does not support PKCE, or refuses it.
    Unsupported,
}

/// The scopes of the authorization request.
#[derive(Debug, PartialEq)]
pub(crate) struct Scopes {
    /// Default scopes, which the operator can replace.
    pub usual: &'static [&'static str],
    /// Scopes that are always requested.
    pub needed: &'static [&'static str],
    /// Separator of scopes in the request.
    pub separator: &'static str,
}

/// Mapping of the provider's responses to an identity. Fields are JSON pointers (RFC 6901).
#[derive(Debug, PartialEq)]
pub(crate) struct FieldMapping {
    pub source: Source,
    /// Pointers to the parts of the subject, which are joined by colons. Some providers need two parts, because their
    /// user ids are unique only within an organisation.
    pub subject: &'static [&'static str],
    pub email: Option<&'static str>,
    pub verified: Verified,
    /// Pointers to the name, in order of preference.
    pub name: &'static [&'static str],
    pub avatar: Avatar,
}

/// The document with the identity of the user.
#[derive(Debug, PartialEq)]
pub(crate) enum Source {
    /// The `id_token`, completed by userinfo.
    IdToken,
    /// The `id_token`. The name comes only with the first callback, in the parameter `user` (Apple).
    IdTokenAndCallback,
    /// The response of this URL to a GET request with the access token.
    Profile {
        url: &'static str,
        /// Headers that the URL requires.
        headers: &'static [(&'static str, &'static str)],
    },
    /// The token response itself contains the user.
    TokenResponse,
}

/// Evidence that the email address is verified.
#[derive(Debug, PartialEq)]
pub(crate) enum Verified {
    /// The address is never verified: the provider has no flag, or a flag that is not about the mailbox.
    Never,
    /// The address is verified if the value at this pointer is `true`.
    True(&'static str),
    /// The address is verified if the value at this pointer is `true` or the string `"true"`; the provider documents
    /// both.
    TrueOrText(&'static str),
    /// The address is the primary one of a list, which has a flag for each address.
    Listed(EmailList),
}

/// An endpoint with all email addresses of the user.
#[derive(Debug, PartialEq)]
pub(crate) struct EmailList {
    pub url: &'static str,
    /// JSON pointer to the list in the response.
    pub list: &'static str,
    /// Names of the fields of a list element: address, primary flag, verified flag.
    pub address: &'static str,
    pub primary: &'static str,
    pub verified: &'static str,
}

/// The picture of the user.
#[derive(Debug, PartialEq)]
pub(crate) enum Avatar {
    /// The provider has no publicly accessible picture.
    None,
    /// The URL of the picture is at this pointer.
    At(&'static str),
    /// The URL is this template, with pointers in braces.
    Template(&'static str),
}
