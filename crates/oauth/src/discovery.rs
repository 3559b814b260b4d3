//! Discovery documents (OpenID Connect Discovery 1.0 section 3).

use jsonwebtoken::Algorithm;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::error::{ProviderError, Stage};
use crate::id_token::ALGORITHMS;
use crate::provider::Provider;
use crate::providers::ClientAuth;

/// The fields of a discovery document that this client uses.
#[derive(Debug)]
pub(crate) struct Metadata {
    /// The issuer; Microsoft's multi-tenant documents have a pattern with `{tenantid}`.
    pub(crate) issuer: String,
    pub(crate) authorization_endpoint: Url,
    pub(crate) token_endpoint: Url,
    pub(crate) userinfo_endpoint: Option<Url>,
    pub(crate) jwks_uri: Url,
    /// Signature algorithms that the document announces and this client accepts.
    pub(crate) algorithms: Vec<Algorithm>,
    /// Client authentication method; `None` if the document announces no supported one.
    pub(crate) client_auth: Option<ClientAuth>,
    /// True if authorization responses carry `iss` (RFC 9207).
    pub(crate) names_issuer: bool,
}

#[derive(Deserialize)]
struct Document {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    userinfo_endpoint: Option<String>,
    jwks_uri: String,
    id_token_signing_alg_values_supported: Option<Vec<String>>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    authorization_response_iss_parameter_supported: Option<bool>,
}

/// Parses the discovery document of `provider`. Its issuer must be the expected one.
pub(crate) fn read(body: Value, provider: &Provider) -> Result<Metadata, ProviderError> {
    let bad = |reason: &str| ProviderError::BadAnswer { stage: Stage::Discovery, reason: reason.to_owned() };
    let document: Document =
        serde_json::from_value(body).map_err(|_| bad("a required field is missing or of another type"))?;
    if !provider.is_issuer_of_document(&document.issuer) {
        return Err(bad("it names another issuer"));
    }
    let algorithms = algorithms(document.id_token_signing_alg_values_supported.as_deref());
    if algorithms.is_empty() {
        return Err(bad("it announces no algorithm that is accepted here"));
    }
    let url = |text: &str| Url::parse(text).map_err(|_| bad("an endpoint in it is no URL"));
    Ok(Metadata {
        authorization_endpoint: url(&document.authorization_endpoint)?,
        token_endpoint: url(&document.token_endpoint)?,
        userinfo_endpoint: document.userinfo_endpoint.as_deref().map(url).transpose()?,
        jwks_uri: url(&document.jwks_uri)?,
        issuer: document.issuer,
        algorithms,
        client_auth: client_auth(document.token_endpoint_auth_methods_supported.as_deref()),
        names_issuer: document.authorization_response_iss_parameter_supported == Some(true),
    })
}

/// Selects those of the announced signature algorithms that this client accepts. If the document announces none, the
/// result is RS256, which every provider must support.
fn algorithms(announced: Option<&[String]>) -> Vec<Algorithm> {
    let Some(announced) = announced else { return vec![Algorithm::RS256] };
    let known = announced.iter().filter_map(|name| name.parse().ok());
    known.filter(|algorithm| ALGORITHMS.contains(algorithm)).collect()
}

/// Selects the client authentication: HTTP Basic, which is the default, or else the secret in the body; `None` if
/// neither is announced.
fn client_auth(announced: Option<&[String]>) -> Option<ClientAuth> {
    let Some(announced) = announced else { return Some(ClientAuth::Basic) };
    let has = |method: &str| announced.iter().any(|one| one == method);
    if has("client_secret_basic") {
        Some(ClientAuth::Basic)
    } else {
        has("client_secret_post").then_some(ClientAuth::Post)
    }
}

#[cfg(test)]
mod tests;
