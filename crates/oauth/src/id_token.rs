//! Believing an `id_token` (OpenID Connect Core 1.0 section 3.1.3.7, RFC 8725). The form is read in `jws`; here stands
//! what its claims must say.

use aws_lc_rs::digest::{SHA256, digest};
use jsonwebtoken::Algorithm;
use latchkey_domain::time::Timestamp;
use serde_json::Value;
use subtle::ConstantTimeEq;

use crate::error::IdTokenFault;

mod dates;
mod jws;

pub(crate) use jws::Jws;

/// The algorithms that are good enough: asymmetric, and with keys that cannot be found out.
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

/// The longest `sub`, as OpenID Connect Core 1.0 section 2 has it.
pub(crate) const LONGEST_SUBJECT: usize = 255;

/// What the claims must say.
pub(crate) struct Expected<'a> {
    pub(crate) issuer: Issuer<'a>,
    /// The clients that it may be for.
    pub(crate) audiences: Vec<&'a str>,
    /// The clients that it may have been given to.
    pub(crate) parties: Vec<&'a str>,
    pub(crate) nonce: Nonce<'a>,
    pub(crate) now: Timestamp,
}

/// Who must have issued it.
pub(crate) enum Issuer<'a> {
    /// One of these, to the letter.
    OneOf(Vec<&'a str>),
    /// This, with the token's own `tid` in the place of `{tenantid}`: Microsoft's way for several tenants. `tenants` says
    /// which may be there.
    OfTenant { pattern: &'a str, tenants: fn(&str) -> bool },
}

/// What `nonce` must be.
#[derive(Clone, Copy)]
pub(crate) enum Nonce<'a> {
    /// The one that was sent.
    Required(&'a str),
    /// Where the token has one, the one that the app brought, plain or as SHA-256 in hex.
    IfPresent(Option<&'a str>),
    /// The same at a provider whose apps hash their nonces: what has the form of a hash is one, and who read it in a
    /// captured token does not know the nonce.
    IfPresentHashed(Option<&'a str>),
}

/// What a good token proves.
#[derive(Debug)]
pub(crate) struct Proved {
    /// All claims.
    pub(crate) claims: Value,
    /// `sub`.
    pub(crate) subject: String,
    /// `exp`.
    pub(crate) expires_at: Timestamp,
}

impl Expected<'_> {
    /// Judges claims. They prove something only where the signature is known to be good.
    pub(crate) fn judge(&self, claims: Value) -> Result<Proved, IdTokenFault> {
        self.check_issuer(&claims)?;
        self.check_audience(&claims)?;
        let expires_at = dates::check(&claims, self.now)?;
        self.check_nonce(&claims)?;
        let subject = subject(&claims)?.to_owned();
        Ok(Proved { claims, subject, expires_at })
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

    /// `aud` names one of ours. Others beside it are borne only where `azp` says that it was given to us, and an `azp`
    /// that is there always counts.
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
            // An app that made a nonce wants it checked.
            _ => false,
        };
        if is_right { Ok(()) } else { Err(IdTokenFault::Nonce) }
    }
}

/// Reads `sub`: 1 to 255 characters without control characters.
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
