//! Access tokens: signed JWTs (RFC 7519) of type `at+jwt` (RFC 9068), verified only with the service's own keys (RFC
//! 8725).

use jsonwebtoken::{Validation, decode, decode_header};
use latchkey_domain::session::{Level, Session};
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::User;

use super::claims::{Claims, TYPE};
use super::signing_keys::{KeySet, SigningKey};
use super::verified_tokens::VerifiedToken;

/// The value of the claim `role`, the same for every user.
const ROLE: &str = "authenticated";
/// Maximum length of a token in bytes; tokens of this service are shorter.
const LONGEST_TOKEN: usize = 4096;

/// An access token and its expiry.
#[derive(Clone)]
pub struct AccessToken {
    pub token: String,
    pub expires_at: Timestamp,
}

#[derive(Debug, Clone)]
pub struct TokenNames {
    /// The claim `iss`.
    pub issuer: String,
    /// The claim `aud`.
    pub audience: String,
}

impl TokenNames {
    /// Builds the claims of a new access token.
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
            auth_time: session.authenticated_at.as_seconds(),
            amr: session.methods.to_claim(),
            aal: (session.level != Level::One).then(|| session.level.as_number()),
            iat: now.as_seconds(),
            exp: expires_at.as_seconds(),
            nbf: None,
            jti: hex::encode(jti),
        }
    }

    /// Verifies a token: key id, algorithm, type, signature, issuer, audience, and times at `now`. `None` for any
    /// failure.
    #[must_use]
    pub fn verify(&self, token: &str, keys: &KeySet, now: Timestamp) -> Option<Claims> {
        self.verify_with_key(token, keys, now).map(|(claims, _)| claims)
    }

    /// Verifies a token like [`Self::verify`], and caches the outcome. The cache belongs to `keys`, so all calls must
    /// use the same issuer and audience.
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

    /// Builds the rules of the crate `jsonwebtoken` for issuer and audience. Its time checks are switched
    /// off, because they read the system clock instead of the injected one.
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
