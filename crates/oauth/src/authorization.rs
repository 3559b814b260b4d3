//! Authorization request URL (RFC 6749 section 4.1.1, OpenID Connect Core 1.0 section 3.1.2.1).

use url::Url;

use crate::flow::AuthorizationRequest;
use crate::provider::Provider;
use crate::providers::{Pkce, Protocol};

/// Query parameters of the authorization request that the app may not set.
const RESERVED: &[&str] = &[
    "client_id",
    "redirect_uri",
    "state",
    "nonce",
    "scope",
    "response_type",
    "response_mode",
    "code_challenge",
    "code_challenge_method",
    "request",
    "request_uri",
    "registration",
    "claims",
];

/// Builds the authorization URL: the provider's authorization endpoint with the query parameters of the request.
pub(crate) fn url(provider: &Provider, endpoint: Url, request: &AuthorizationRequest<'_>) -> Url {
    let entry = provider.entry;
    let mut url = endpoint;
    url.set_fragment(None);
    {
        let mut query = url.query_pairs_mut();
        query
            .append_pair("response_type", "code")
            .append_pair(entry.client_id_field, &provider.client.client_id)
            .append_pair("redirect_uri", request.redirect_uri);
        let scopes = provider.scopes();
        if !scopes.is_empty() {
            query.append_pair("scope", &scopes);
        }
        query.append_pair("state", request.state);
        if matches!(entry.protocol, Protocol::OpenId { .. }) {
            query.append_pair("nonce", request.nonce);
        }
        if entry.pkce == Pkce::S256 {
            query
                .append_pair("code_challenge", &request.pkce.challenge())
                .append_pair("code_challenge_method", "S256");
        }
        query.extend_pairs(entry.parameters);
        query.extend_pairs(request.hints.iter().filter(|(name, _)| !is_reserved(provider, name)));
    }
    url
}

/// Returns `true` if the app may not set this parameter. Also returns `true` for names that a lenient server could take
/// for a reserved one: in another case (`Client_Id`), with punctuation in place of the underscore (`redirect.uri`), or
/// with an index (`scope[0]`).
fn is_reserved(provider: &Provider, name: &str) -> bool {
    let name = plain(name);
    let own = provider.entry.parameters.iter().map(|(own, _)| *own);
    let mut all = RESERVED.iter().copied().chain([provider.entry.client_id_field]).chain(own);
    name.is_empty() || all.any(|reserved| reserved == name)
}

fn plain(name: &str) -> String {
    let name = name.split_once('[').map_or(name, |(before, _)| before);
    let sign = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    name.chars().map(sign).collect::<String>().trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests;
