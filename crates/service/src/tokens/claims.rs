//! Claims and header of an access token (RFC 7519, RFC 9068).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::ids::{SessionId, UserId};
use serde::{Deserialize, Serialize};

use crate::tokens::SigningAlgorithm;

/// The `typ` of access tokens, RFC 9068 section 2.1.
pub(crate) const TYPE: &str = "at+jwt";

/// The claims of an access token. Times are whole seconds since the Unix epoch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Claims {
    /// Issuer: the public URL.
    pub iss: String,
    /// Audience: the public URL, or what the operator set.
    pub aud: String,
    /// Subject: the user.
    pub sub: UserId,
    /// The session.
    pub sid: SessionId,
    /// Always `authenticated`.
    pub role: String,
    /// The user's address.
    pub email: String,
    /// The address is verified.
    pub email_verified: bool,
    /// Time of the authentication.
    pub auth_time: i64,
    /// Authentication methods (RFC 8176).
    pub amr: Vec<String>,
    /// Time of issue.
    pub iat: i64,
    /// Expiry.
    pub exp: i64,
    /// Before when it is not good; we set none, and honour one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nbf: Option<i64>,
    /// Its own id.
    pub jti: String,
}

/// The encoded header of a key's tokens: made once for the key.
#[must_use]
pub(crate) fn encoded_header(algorithm: SigningAlgorithm, kid: &str) -> String {
    let header = serde_json::json!({ "alg": algorithm.as_str(), "kid": kid, "typ": TYPE });
    URL_SAFE_NO_PAD.encode(header.to_string())
}
