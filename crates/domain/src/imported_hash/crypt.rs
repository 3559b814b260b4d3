//! Schemes of crypt(3) and of PHP: SHA-crypt (Drepper) and phpass (Openwall).

use std::fmt;

use super::HashProblem;
use super::fields::{Read, is_crypt64, number, within};

const USUAL_ROUNDS: u32 = 5_000;
const LEAST_ROUNDS: u32 = 1_000;
const MOST_ROUNDS: u32 = 1_000_000;
const LONGEST_SALT: usize = 16;
/// Characters of crypt(3), whose positions are the values of phpass's cost.
const ALPHABET: &str = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LEAST_LOG: usize = 7;
const MOST_LOG: usize = 18;

/// A hash of SHA-crypt.
#[derive(Clone, PartialEq, Eq)]
pub struct ShaCryptHash {
    /// True for SHA-512 (`$6$`), false for SHA-256 (`$5$`).
    pub is_sha512: bool,
    /// Number of rounds.
    pub rounds: u32,
    /// Salt.
    pub salt: String,
    /// Output in the characters of crypt(3).
    pub output: String,
}

impl fmt::Display for ShaCryptHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { is_sha512, rounds, salt, output } = self;
        write!(f, "${}$rounds={rounds}${salt}${output}", if *is_sha512 { 6 } else { 5 })
    }
}

pub(super) fn parse_sha(text: &str) -> Option<Read<ShaCryptHash>> {
    let sha256 = text.strip_prefix("$5$").map(|rest| read_sha(false, rest));
    sha256.or_else(|| text.strip_prefix("$6$").map(|rest| read_sha(true, rest)))
}

fn read_sha(is_sha512: bool, rest: &str) -> Read<ShaCryptHash> {
    let (rounds, rest) = match rest.strip_prefix("rounds=") {
        Some(rest) => {
            let (rounds, rest) = rest.split_once('$').ok_or(HashProblem::Unknown)?;
            (within(number(rounds)?, LEAST_ROUNDS, MOST_ROUNDS)?, rest)
        }
        None => (USUAL_ROUNDS, rest),
    };
    let (salt, output) = rest.split_once('$').ok_or(HashProblem::Unknown)?;
    let length = if is_sha512 { 86 } else { 43 };
    let is_salt = is_crypt64(salt) && salt.len() <= LONGEST_SALT;
    if !is_salt || !is_crypt64(output) || output.len() != length {
        return Err(HashProblem::Unknown);
    }
    Ok(ShaCryptHash { is_sha512, rounds, salt: salt.to_owned(), output: output.to_owned() })
}

/// A portable hash of phpass.
#[derive(Clone, PartialEq, Eq)]
pub struct PhpassHash {
    /// Binary logarithm of the number of rounds of MD5.
    pub log_rounds: u32,
    /// Salt of 8 characters.
    pub salt: String,
    /// Output in the characters of crypt(3).
    pub output: String,
    text: String,
}

impl fmt::Display for PhpassHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

pub(super) fn parse_phpass(text: &str) -> Option<Read<PhpassHash>> {
    let rest = text.strip_prefix("$P$").or_else(|| text.strip_prefix("$H$"))?;
    Some(read_phpass(text, rest))
}

fn read_phpass(text: &str, rest: &str) -> Read<PhpassHash> {
    if rest.len() != 31 || !is_crypt64(rest) {
        return Err(HashProblem::Unknown);
    }
    let log = rest.chars().next().and_then(|cost| ALPHABET.find(cost)).ok_or(HashProblem::Unknown)?;
    let log = within(log, LEAST_LOG, MOST_LOG)?;
    Ok(PhpassHash {
        log_rounds: u32::try_from(log).map_err(|_| HashProblem::OutOfBounds)?,
        salt: rest[1..9].to_owned(),
        output: rest[9..].to_owned(),
        text: text.to_owned(),
    })
}
