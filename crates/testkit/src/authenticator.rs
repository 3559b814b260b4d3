//! Authenticator app for tests (RFC 6238): SHA-1, six digits, steps of 30 seconds. It shares no code with the service.

use aws_lc_rs::hmac;
use latchkey_service::clock::Clock;

use crate::time::ManualClock;

/// Length of a time step in seconds.
const STEP: i64 = 30;
/// Alphabet of Base32 (RFC 4648).
const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Authenticator app with one secret. It computes codes by the test's clock.
#[derive(Clone)]
pub struct Authenticator {
    secret: Vec<u8>,
    clock: ManualClock,
}

impl Authenticator {
    /// Creates an app with this secret, in Base32.
    pub fn new(secret: &str, clock: &ManualClock) -> Self {
        Self { secret: base32(secret), clock: clock.clone() }
    }

    /// Returns the bytes of the secret.
    pub fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// Returns the code of the current time step.
    pub fn code(&self) -> String {
        self.code_of_step(0)
    }

    /// Returns the code of the time step that is `steps` after the current one; -1 is the one before.
    pub fn code_of_step(&self, steps: i64) -> String {
        code_at(&self.secret, self.clock.now().as_seconds() + steps * STEP)
    }

    /// Returns a wrong code: one that differs from the codes of all time steps around now. Different numbers give
    /// different codes.
    pub fn wrong_code(&self, number: usize) -> String {
        let near: Vec<_> = (-10..=10).map(|steps| self.code_of_step(steps)).collect();
        let wrong = (0..).map(|code| format!("{code:06}")).filter(|code| !near.contains(code));
        wrong.skip(number).take(1).collect()
    }
}

/// Computes the code of a secret in Base32 at a time in seconds since 1970.
#[must_use]
pub fn totp_code(secret: &str, seconds: i64) -> String {
    code_at(&base32(secret), seconds)
}

/// Computes the code of a secret at a time in seconds since 1970.
fn code_at(secret: &[u8], seconds: i64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let mac = hmac::sign(&key, &seconds.div_euclid(STEP).to_be_bytes());
    let mac = mac.as_ref();
    let start = usize::from(mac[19] & 15);
    let word = u32::from_be_bytes(mac[start..start + 4].try_into().unwrap()) & 0x7fff_ffff;
    format!("{:06}", word % 1_000_000)
}

/// Decodes a text in Base32 without padding.
fn base32(text: &str) -> Vec<u8> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for letter in text.bytes() {
        let value = ALPHABET.iter().position(|known| *known == letter).expect("a letter of Base32");
        bits = (bits << 5 | u32::try_from(value).unwrap()) & 0xfff;
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).unwrap());
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_rfc_6238() {
        let secret = base32("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert_eq!(secret, b"12345678901234567890");
        let codes = [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ];
        for (seconds, code) in codes {
            assert_eq!(code_at(&secret, seconds), code);
        }
    }
}
