//! PBKDF2 with HMAC (RFC 8018).

use std::fmt;

use super::fields::{Read, base64, hex, number, output, parts, salt, to_base64, values, within};
use crate::words;

const LEAST_ITERATIONS: u32 = 1_000;
const MOST_ITERATIONS: u32 = 2_000_000;

words! {
    /// Digest of the HMAC.
    pub enum Pbkdf2Digest {
        /// SHA-1.
        Sha1 = "sha1",
        /// SHA-256.
        Sha256 = "sha256",
        /// SHA-512.
        Sha512 = "sha512",
    }
}

/// A hash of PBKDF2.
#[derive(Clone, PartialEq, Eq)]
pub struct Pbkdf2Hash {
    /// Digest.
    pub digest: Pbkdf2Digest,
    /// Number of iterations.
    pub iterations: u32,
    /// Salt.
    pub salt: Vec<u8>,
    /// Output.
    pub output: Vec<u8>,
}

impl fmt::Display for Pbkdf2Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { digest, iterations, salt, output } = self;
        write!(f, "$pbkdf2-{digest}$i={iterations}")?;
        write!(f, "${}${}", to_base64(salt), to_base64(output))
    }
}

pub(super) fn parse(text: &str) -> Option<Read<Pbkdf2Hash>> {
    if let Some((digest, rest)) = named(text, "$pbkdf2-", '$') {
        return Some(read(digest, rest));
    }
    // passlib names SHA-1 by leaving the name out.
    if let Some(rest) = text.strip_prefix("$pbkdf2$") {
        return Some(read(Pbkdf2Digest::Sha1, rest));
    }
    if let Some((digest, rest)) = named(text, "pbkdf2_", '$') {
        return Some(read_django(digest, rest));
    }
    named(text, "pbkdf2:", ':').map(|(digest, rest)| read_werkzeug(digest, rest))
}

/// Splits `STARTDIGESTSEPARATORREST`.
fn named<'a>(text: &'a str, start: &str, separator: char) -> Option<(Pbkdf2Digest, &'a str)> {
    let (name, rest) = text.strip_prefix(start)?.split_once(separator)?;
    Some((Pbkdf2Digest::parse(name)?, rest))
}

fn read(digest: Pbkdf2Digest, rest: &str) -> Read<Pbkdf2Hash> {
    let [costs, salted, hashed] = parts(rest)?;
    let hashed = base64(hashed)?;
    let iterations = if costs.contains(",l=") {
        let [iterations, length] = values(costs, ["i", "l"])?;
        within(number(length)?, hashed.len(), hashed.len())?;
        iterations
    } else {
        costs.strip_prefix("i=").unwrap_or(costs)
    };
    hash(digest, iterations, base64(salted)?, hashed)
}

fn read_django(digest: Pbkdf2Digest, rest: &str) -> Read<Pbkdf2Hash> {
    let [iterations, salted, hashed] = parts(rest)?;
    hash(digest, iterations, salted.into(), base64(hashed)?)
}

fn read_werkzeug(digest: Pbkdf2Digest, rest: &str) -> Read<Pbkdf2Hash> {
    let [iterations, salted, hashed] = parts(rest)?;
    hash(digest, iterations, salted.into(), hex(hashed)?)
}

fn hash(digest: Pbkdf2Digest, iterations: &str, salted: Vec<u8>, hashed: Vec<u8>) -> Read<Pbkdf2Hash> {
    let iterations = within(number(iterations)?, LEAST_ITERATIONS, MOST_ITERATIONS)?;
    Ok(Pbkdf2Hash { digest, iterations, salt: salt(salted)?, output: output(hashed)? })
}
