//! TOTP (RFC 6238): secrets, their `otpauth` URI, and the time step of a code. Codes use SHA-1, 6 digits and steps of
//! 30 seconds, because authenticator apps support nothing else reliably.

use latchkey_domain::codes::SixDigitCode;
use latchkey_domain::factors::{FactorId, TotpStep};
use latchkey_domain::ids::UserId;
use latchkey_domain::imports::TOTP_SECRET;
use latchkey_domain::time::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use totp_rs::{Algorithm, Builder, Secret, Totp};
use zeroize::Zeroizing;

use crate::entropy::Entropy;
use crate::secrets::{CannotDerive, CannotOpen, SealingKey};

/// Length of a secret in bytes: 160 bits (RFC 4226 section 4).
const SECRET: usize = 20;
/// Duration of a time step in seconds.
const STEP: u64 = 30;
/// Number of time steps before the current one, and after it, whose codes are accepted.
const SKEW: u16 = 1;
/// The characters that are percent-encoded in a part of the URI: all but the unreserved ones (RFC 3986 section 2.3).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The secret of a TOTP factor. One of another service may be shorter or longer than ours.
pub(super) struct TotpSecret(Zeroizing<Vec<u8>>);

impl TotpSecret {
    pub(super) fn new(entropy: &dyn Entropy) -> Self {
        let secret = Zeroizing::new(entropy.bytes::<SECRET>());
        Self(Zeroizing::new(secret.to_vec()))
    }

    /// Takes over a secret of another service; `None` if no service makes one of its length.
    pub(super) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        TOTP_SECRET.contains(&bytes.len()).then(|| Self(Zeroizing::new(bytes.to_vec())))
    }

    /// Seals the secret, bound to its account and factor.
    pub(super) fn seal(
        &self,
        key: &SealingKey,
        entropy: &dyn Entropy,
        (user, factor): (UserId, FactorId),
    ) -> Result<Vec<u8>, CannotDerive> {
        key.seal(entropy, bound_to(user, factor).as_bytes(), &self.0)
    }

    pub(super) fn open(
        key: &SealingKey,
        (user, factor): (UserId, FactorId),
        sealed: &[u8],
    ) -> Result<Self, CannotOpen> {
        let plain = Zeroizing::new(key.open(bound_to(user, factor).as_bytes(), sealed)?);
        Self::of_bytes(&plain).ok_or(CannotOpen)
    }

    /// Returns the secret in Base32 without padding.
    pub(super) fn to_base32(&self) -> String {
        self.secret().to_base32()
    }

    /// Returns the `otpauth` URI, which an authenticator app reads from a QR code. It states all parameters, even those
    /// with default values.
    pub(super) fn uri(&self, service: &str, email: &str) -> String {
        let encoded = |text| utf8_percent_encode(text, ENCODED);
        let (service, email, secret) = (encoded(service), encoded(email), self.to_base32());
        format!(
            "otpauth://totp/{service}:{email}?secret={secret}&issuer={service}&algorithm=SHA1&digits=6&period={STEP}"
        )
    }

    /// Returns the time step whose code this is: the current step, the one before or the one after. `None` for a wrong
    /// code. A code that was used before is not detected here.
    pub(super) fn step_of(&self, code: &SixDigitCode, now: Timestamp) -> Option<TotpStep> {
        let second = u64::try_from(now.as_seconds()).ok()?;
        let step = self.generator().check(code.expose(), second)?;
        i64::try_from(step).ok().map(TotpStep)
    }

    /// Returns the code generator of the crate `totp-rs`. Its check of the parameters would refuse secrets of less than 128
    /// bits, which many services make.
    fn generator(&self) -> Totp {
        let builder = Builder::new().with_secret(self.secret());
        builder.with_algorithm(Algorithm::SHA1).with_step_duration(STEP).with_skew(SKEW).build_noncompliant()
    }

    fn secret(&self) -> Secret {
        Secret::new(self.0.as_slice().into())
    }
}

pub(crate) fn bound_to(user: UserId, factor: FactorId) -> String {
    format!("{user} {factor}")
}

#[cfg(test)]
mod tests;
