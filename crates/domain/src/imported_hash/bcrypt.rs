//! bcrypt (Provos and Mazières), in the 60 characters of crypt(3).

use std::fmt;

use super::HashProblem;
use super::fields::{Read, is_crypt64, number, within};

const LEAST_COST: u32 = 4;
const MOST_COST: u32 = 14;
const ALPHABET: &[u8; 64] = b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// Characters of the salt, after `$2b$10$`.
const SALT: std::ops::Range<usize> = 7..29;
const LENGTH: usize = 60;
const OF_SHA256: &str = "bcrypt_sha256$";

/// A hash of bcrypt.
#[derive(Clone, PartialEq, Eq)]
pub struct BcryptHash {
    /// True if bcrypt was given the SHA-256 of the password in hex (Django's `bcrypt_sha256`).
    pub is_of_sha256: bool,
    /// Cost: binary logarithm of the number of rounds.
    pub cost: u32,
    /// Salt.
    pub salt: [u8; 16],
    /// Output.
    pub output: [u8; 23],
    text: String,
}

impl fmt::Display for BcryptHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_of_sha256 { OF_SHA256 } else { "" })?;
        f.write_str(&self.text)
    }
}

pub(super) fn parse(text: &str) -> Option<Read<BcryptHash>> {
    let of_sha256 = text.strip_prefix(OF_SHA256);
    let crypt = of_sha256.or_else(|| text.strip_prefix("bcrypt$")).unwrap_or(text);
    let is_known = ["$2a$", "$2b$", "$2y$"].iter().any(|start| crypt.starts_with(start));
    is_known.then(|| read(crypt, of_sha256.is_some()))
}

fn read(text: &str, is_of_sha256: bool) -> Read<BcryptHash> {
    let is_well_formed = text.len() == LENGTH && text.as_bytes().get(6) == Some(&b'$');
    if !is_well_formed || !is_crypt64(&text[7..]) {
        return Err(HashProblem::Unknown);
    }
    let cost = within(number(&text[4..6])?, LEAST_COST, MOST_COST)?;
    let salt = decode(&text[SALT]).ok_or(HashProblem::Unknown)?;
    let output = decode(&text[SALT.end..]).ok_or(HashProblem::Unknown)?;
    Ok(BcryptHash { is_of_sha256, cost, salt, output, text: text.to_owned() })
}

/// Decodes bcrypt's base64. The unused bits of the last character are ignored, as crypt(3) does.
fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = Vec::with_capacity(N + 1);
    let (mut bits, mut count) = (0_u32, 0);
    for character in text.bytes() {
        let value = ALPHABET.iter().position(|known| *known == character)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    bytes.try_into().ok()
}
