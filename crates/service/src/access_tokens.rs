//! Access tokens: signed JWTs (RFC 7519, RFC 9068 `at+jwt`), made and checked with our own keys only (RFC 8725).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Validation, decode, decode_header};
use latchkey_domain::ids::{SessionId, UserId};
use latchkey_domain::session::Session;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;
use serde::{Deserialize, Serialize};

use crate::config::SigningAlgorithm;
use crate::signing_keys::{KeySet, SigningKey};

/// The `typ` of access tokens, RFC 9068 section 2.1.
const TYPE: &str = "at+jwt";
/// The role of every signed-in user.
const ROLE: &str = "authenticated";
/// A token is longer than any of ours.
const LONGEST_TOKEN: usize = 4096;

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
    /// Whether it was proven.
    pub email_verified: bool,
    /// When the user proved who they are.
    pub auth_time: i64,
    /// How (RFC 8176).
    pub amr: Vec<String>,
    /// When the token was made.
    pub iat: i64,
    /// When it stops being good.
    pub exp: i64,
    /// Before when it is not good; we set none, and honour one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nbf: Option<i64>,
    /// Its own id.
    pub jti: String,
}

/// An access token and the end of its life.
#[derive(Clone)]
pub struct AccessToken {
    /// The JWT.
    pub token: String,
    /// When it stops being good.
    pub expires_at: Timestamp,
}

/// Who is named by tokens of this service.
#[derive(Debug, Clone)]
pub struct TokenNames {
    /// `iss`.
    pub issuer: String,
    /// `aud`.
    pub audience: String,
}

impl TokenNames {
    /// The claims of a new token.
    #[must_use]
    pub fn claims(
        &self,
        user: &User,
        session: &Session,
        now: Timestamp,
        expires_at: Timestamp,
        jti: [u8; 16],
    ) -> Claims {
        Claims {
            iss: self.issuer.clone(),
            aud: self.audience.clone(),
            sub: user.id,
            sid: session.id,
            role: ROLE.to_owned(),
            email: user.email.as_typed().to_owned(),
            email_verified: user.email_verified,
            auth_time: session.created_at.as_seconds(),
            amr: vec![session.method.as_str().to_owned()],
            iat: now.as_seconds(),
            exp: expires_at.as_seconds(),
            nbf: None,
            jti: hex::encode(jti),
        }
    }

    /// Checks a token: its key is one of ours, its algorithm that key's, its type, signature, issuer, audience and
    /// times are right. `None` says no more than that it is not good.
    #[must_use]
    pub fn verify(&self, token: &str, keys: &KeySet, now: Timestamp) -> Option<Claims> {
        if token.len() > LONGEST_TOKEN {
            return None;
        }
        let header = decode_header(token).ok()?;
        let key = keys.find(header.kid.as_deref()?, now)?;
        if header.typ.as_deref() != Some(TYPE) {
            return None;
        }
        let claims = decode::<Claims>(token, key.decoding(), &self.validation(key)).ok()?.claims;
        let second = now.as_seconds();
        let is_now = second < claims.exp && claims.nbf.is_none_or(|nbf| nbf <= second);
        is_now.then_some(claims)
    }

    /// Times are checked against the injected clock, not by the library against the machine's.
    fn validation(&self, key: &SigningKey) -> Validation {
        let mut validation = Validation::new(key.jwt_algorithm());
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.set_required_spec_claims(&["iss", "aud", "sub", "exp"]);
        validation.set_issuer(&[&self.issuer]);
        validation.set_audience(&[&self.audience]);
        validation
    }
}

/// The encoded header of a key's tokens: made once for the key.
#[must_use]
pub(crate) fn encoded_header(algorithm: SigningAlgorithm, kid: &str) -> String {
    let header = serde_json::json!({ "alg": algorithm.as_str(), "kid": kid, "typ": TYPE });
    URL_SAFE_NO_PAD.encode(header.to_string())
}

#[cfg(test)]
mod tests;
