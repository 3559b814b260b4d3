//! Access tokens: signed JWTs (RFC 7519, RFC 9068 `at+jwt`), made and checked with our own keys only (RFC 8725).

use jsonwebtoken::{Validation, decode, decode_header};
use latchkey_domain::session::Session;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;

use super::claims::{Claims, TYPE};
use super::signing_keys::{KeySet, SigningKey};
use super::verified_tokens::VerifiedToken;

/// The role of every signed-in user.
const ROLE: &str = "authenticated";
/// A token is longer than any of ours.
const LONGEST_TOKEN: usize = 4096;

/// An access token and the end of its life.
#[derive(Clone)]
pub struct AccessToken {
    /// The JWT.
    pub token: String,
    /// Expiry.
    pub expires_at: Timestamp,
}

/// Issuer and audience of the tokens of this service.
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
        self.verify_with_key(token, keys, now).map(|(claims, _)| claims)
    }

    /// The same for a token that may have been checked before; `keys` are only ever asked by these names.
    #[must_use]
    pub(crate) fn verify_once(&self, token: &str, keys: &KeySet, now: Timestamp) -> Option<VerifiedToken> {
        keys.verified().get_or_verify(token, now, || {
            let (claims, key) = self.verify_with_key(token, keys, now)?;
            Some(VerifiedToken::of(&claims, key.verify_until()))
        })
    }

    fn verify_with_key<'k>(
        &self,
        token: &str,
        keys: &'k KeySet,
        now: Timestamp,
    ) -> Option<(Claims, &'k SigningKey)> {
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
        is_now.then_some((claims, key))
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

#[cfg(test)]
mod tests;
