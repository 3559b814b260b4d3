//! The entries, in the order of their names.

use super::{ClientAuth, Entry, Pkce, Protocol, Scopes};

/// Every provider that needs no more than client credentials.
pub const BUILT_IN: &[Entry] = &[];

/// What all providers have in common that an operator adds by a discovery address.
pub(crate) const CUSTOM: Entry = Entry {
    key: "custom",
    name: "OpenID Connect",
    protocol: Protocol::OpenId { issuer: "" },
    client_id_field: "client_id",
    client_auth: ClientAuth::Discovered,
    pkce: Pkce::S256,
    scopes: Scopes { usual: &["openid", "email", "profile"], needed: &["openid"], separator: " " },
    authorization_parameters: &[],
};
