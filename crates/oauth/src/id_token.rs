//! Validation of `id_token` claims (OpenID Connect Core 1.0 section 3.1.3.7, RFC 8725). Parsing and signatures are in
//! `jws`, times in `dates`.

use aws_lc_rs::digest::{SHA256, digest};
use jsonwebtoken::Algorithm;
use latchkey_domain::time::Timestamp;
use serde_json::Value;
use subtle::ConstantTimeEq;

use crate::error::IdTokenFault;

mod dates;
mod jws;

pub(crate) use jws::Jws;

/// Accepted signature algorithms. All are asymmetric.
pub(crate) const ALGORITHMS: &[Algorithm] = &[
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];

/// Maximum length of `sub` in characters (OpenID Connect Core 1.0 section 2).
pub(crate) const LONGEST_SUBJECT: usize = 255;

/// The claims that a valid `id_token` must have.
pub(crate) struct Expected<'a> {
    pub(crate) issuer: Issuer<'a>,
    /// Client ids accepted in `aud`.
    pub(crate) audiences: Vec<&'a str>,
    /// Client ids accepted in `azp`.
    pub(crate) parties: Vec<&'a str>,
    pub(crate) nonce: Nonce<'a>,
    pub(crate) now: Timestamp,
}

/// The expected `iss`.
pub(crate) enum Issuer<'a> {
    /// One of these issuers, compared exactly.
    OneOf(Vec<&'a str>),
    /// The issuer of the token's own tenant: `pattern` with the claim `tid` in place of `{tenantid}`, as in
    /// Microsoft's multi-tenant documents. `tenants` returns whether a tenant is accepted.
    OfTenant { pattern: &'a str, tenants: fn(&str) -> bool },
}

/// The expected `nonce`.
#[derive(Clone, Copy)]
pub(crate) enum Nonce<'a> {
    /// The nonce of the authorization request, which the token must contain.
    Required(&'a str),
    /// The app's nonce, plain or as hexadecimal SHA-256. App and token must both have a nonce, or neither.
    IfPresent(Option<&'a str>),
    /// Like `IfPresent`, for a provider whose apps send it the SHA-256 of their nonce. A claim in the form of a hash
    /// is compared only with the hash of the app's nonce. A thief of a token thus cannot present the hash in the
    /// token as the nonce.
    IfPresentHashed(Option<&'a str>),
}

/// The claims of an `id_token` that passed validation.
#[derive(Debug)]
pub(crate) struct ValidatedClaims {
    pub(crate) claims: Value,
    pub(crate) subject: String,
    /// The claim `exp`.
    pub(crate) expires_at: Timestamp,
}

impl Expected<'_> {
    /// Validates claims. The outcome is trustworthy only if the signature is verified too.
    pub(crate) fn validate(&self, claims: Value) -> Result<ValidatedClaims, IdTokenFault> {
        self.check_issuer(&claims)?;
        self.check_audience(&claims)?;
        let expires_at = dates::check(&claims, self.now)?;
        self.check_nonce(&claims)?;
        let subject = subject(&claims)?.to_owned();
        Ok(ValidatedClaims { claims, subject, expires_at })
    }

    fn check_issuer(&self, claims: &Value) -> Result<(), IdTokenFault> {
        let issuer = claims["iss"].as_str().ok_or(IdTokenFault::Issuer)?;
        let is_right = match &self.issuer {
            Issuer::OneOf(names) => names.contains(&issuer),
            Issuer::OfTenant { pattern, tenants } => {
                let tenant = claims["tid"].as_str().ok_or(IdTokenFault::Issuer)?;
                tenants(tenant) && pattern.replace("{tenantid}", tenant) == issuer
            }
        };
        if is_right { Ok(()) } else { Err(IdTokenFault::Issuer) }
    }

    /// Checks `aud`, which must contain one of our client ids, and `azp`, which must be one of ours if present. A
    /// further audience requires an `azp`.
    fn check_audience(&self, claims: &Value) -> Result<(), IdTokenFault> {
        let audiences: Vec<&str> = match &claims["aud"] {
            Value::String(one) => vec![one],
            Value::Array(many) => {
                many.iter().map(Value::as_str).collect::<Option<_>>().ok_or(IdTokenFault::Audience)?
            }
            _ => return Err(IdTokenFault::Audience),
        };
        if !audiences.iter().any(|one| self.audiences.contains(one)) {
            return Err(IdTokenFault::Audience);
        }
        match &claims["azp"] {
            Value::Null if audiences.iter().all(|one| self.audiences.contains(one)) => Ok(()),
            Value::Null => Err(IdTokenFault::Audience),
            Value::String(party) if self.parties.contains(&party.as_str()) => Ok(()),
            _ => Err(IdTokenFault::AuthorizedParty),
        }
    }

    fn check_nonce(&self, claims: &Value) -> Result<(), IdTokenFault> {
        let nonce = &claims["nonce"];
        let is_right = match (self.nonce, nonce.as_str()) {
            (Nonce::Required(wanted), Some(nonce)) => are_equal(nonce, wanted),
            (Nonce::IfPresentHashed(Some(brought)), Some(nonce)) if is_sha256_hex(nonce) => {
                are_equal(nonce, &sha256_hex(brought))
            }
            (Nonce::IfPresent(Some(brought)) | Nonce::IfPresentHashed(Some(brought)), Some(nonce)) => {
                are_equal(nonce, brought) || are_equal(nonce, &sha256_hex(brought))
            }
            (Nonce::IfPresent(None) | Nonce::IfPresentHashed(None), None) => nonce.is_null(),
            // A nonce of the app must be in the token, and vice versa.
            _ => false,
        };
        if is_right { Ok(()) } else { Err(IdTokenFault::Nonce) }
    }
}

/// Extracts `sub`: 1 to 255 characters without control characters.
pub(crate) fn subject(claims: &Value) -> Result<&str, IdTokenFault> {
    let subject = claims["sub"].as_str().ok_or(IdTokenFault::Subject)?;
    let is_good = (1..=LONGEST_SUBJECT).contains(&subject.chars().count())
        && !subject.contains(char::is_control)
        && subject.trim() == subject;
    if is_good { Ok(subject) } else { Err(IdTokenFault::Subject) }
}

fn are_equal(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}

fn is_sha256_hex(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}

fn sha256_hex(text: &str) -> String {
    let hash = digest(&SHA256, text.as_bytes());
    hash.as_ref().iter().fold(String::with_capacity(64), |mut hex, byte| {
        use std::fmt::Write as _;
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests;
