//! Claims and header of an access token (RFC 7519, RFC 9068).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::session::Level;
use serde::{Deserialize, Serialize};

use crate::tokens::SigningAlgorithm;

/// The header parameter `typ` of access tokens (RFC 9068 section 2.1).
pub(crate) const TYPE: &str = "at+jwt";

/// The claims of an access token. Times are in seconds since the Unix epoch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Claims {
    /// Issuer: the public URL of the service.
    pub iss: String,
    /// Audience: the public URL, or the configured audience.
    pub aud: String,
    /// Subject: the user id.
    pub sub: UserId,
    /// Id of the session.
    pub sid: SessionId,
    /// Always `authenticated`.
    pub role: String,
    /// Email address of the user at the time of issue.
    pub email: String,
    pub email_verified: bool,
    /// Time of the sign-in that opened the session, or of the reauthentication (step-up) for which the token was
    /// issued.
    pub auth_time: i64,
    /// Methods of the sign-in that opened the session (RFC 8176), such as `pwd`, and those of the reauthentication.
    pub amr: Vec<String>,
    /// Authentication level: 2 if a first and a second factor were shown, absent at level 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aal: Option<u8>,
    /// Time of issue.
    pub iat: i64,
    /// Expiry.
    pub exp: i64,
    /// Time before which the token is invalid. This service never issues it, but verifies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nbf: Option<i64>,
    /// Id of the token: 16 random bytes in hex.
    pub jti: String,
}

impl Claims {
    /// Returns the level that `aal` states; level 1 if it is absent.
    #[must_use]
    pub fn level(&self) -> Level {
        self.aal.and_then(|aal| Level::from_number(aal.into())).unwrap_or(Level::One)
    }
}

/// Encodes the base64url header of the tokens that a key signs. It is constant per key and therefore computed once.
#[must_use]
pub(crate) fn encoded_header(algorithm: SigningAlgorithm, kid: &str) -> String {
    let header = serde_json::json!({ "alg": algorithm.as_str(), "kid": kid, "typ": TYPE });
    URL_SAFE_NO_PAD.encode(header.to_string())
}
