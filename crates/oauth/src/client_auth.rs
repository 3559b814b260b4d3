//! Client authentication at the token endpoint (RFC 6749 section 2.3.1).

use std::time::Duration;

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use latchkey_domain::time::Timestamp;
use reqwest::RequestBuilder;
use reqwest::header::CONTENT_TYPE;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::ProviderError;
use crate::provider::{ClientSecret, Provider};
use crate::providers::ClientAuth;
use crate::secret::SecretText;

/// The claim `aud` of Apple's client secret, which is a JWT.
const APPLE: &str = "https://appleid.apple.com";
/// Lifetime of a signed client secret. It can be short, because the secret is used at once.
const LIFE: Duration = Duration::from_mins(5);

/// Claims of the JWT that Apple expects as client secret.
#[derive(Serialize)]
struct AppleClaims<'a> {
    iss: &'a str,
    iat: i64,
    exp: i64,
    aud: &'static str,
    sub: &'a str,
}

/// Builds the body of a token request from `fields`, and adds the authentication of the client.
pub(crate) fn signed(
    request: RequestBuilder,
    provider: &Provider,
    auth: ClientAuth,
    fields: &[(&str, &str)],
    now: Timestamp,
) -> Result<RequestBuilder, ProviderError> {
    let client_id = provider.client.client_id.as_str();
    let secret = secret(provider, now)?;
    match auth {
        ClientAuth::Basic => Ok(form(with_basic(request, client_id, &secret), fields)),
        ClientAuth::BasicWithJson => {
            let body: Map<_, _> =
                fields.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
            let request = with_basic(request, client_id, &secret);
            Ok(request.header(CONTENT_TYPE, "application/json").body(Value::Object(body).to_string()))
        }
        ClientAuth::Post | ClientAuth::AppleKey => {
            let proof = [(provider.entry.client_id_field, client_id), ("client_secret", secret.expose())];
            Ok(form(request, &[fields, &proof].concat()))
        }
        ClientAuth::Discovered => Err(ProviderError::Misconfigured("the way of client proof is not known")),
    }
}

/// Adds HTTP Basic authentication. Client id and secret are form-encoded before they are joined (RFC 6749 section
/// 2.3.1).
fn with_basic(request: RequestBuilder, client_id: &str, secret: &SecretText) -> RequestBuilder {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    request.basic_auth(encoded(client_id), Some(encoded(secret.expose())))
}

fn form(request: RequestBuilder, fields: &[(&str, &str)]) -> RequestBuilder {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)
}

fn secret(provider: &Provider, now: Timestamp) -> Result<SecretText, ProviderError> {
    match &provider.client.secret {
        ClientSecret::Text(secret) => Ok(secret.clone()),
        ClientSecret::AppleKey { team_id, key_id, private_key } => {
            let claims = AppleClaims {
                iss: team_id,
                iat: now.as_seconds(),
                exp: now.plus(LIFE).as_seconds(),
                aud: APPLE,
                sub: &provider.client.client_id,
            };
            let header = Header { kid: Some(key_id.clone()), ..Header::new(Algorithm::ES256) };
            EncodingKey::from_ec_pem(private_key.expose().as_bytes())
                .and_then(|key| encode(&header, &claims, &key))
                .map(SecretText::new)
                .map_err(|_| ProviderError::Misconfigured("Apple's key cannot sign"))
        }
    }
}

#[cfg(test)]
mod tests;
