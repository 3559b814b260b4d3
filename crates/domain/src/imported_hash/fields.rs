//! The parts that texts of hashes consist of: parameters, numbers, salts and outputs.

use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::HashProblem;

/// Outcome of a parser.
pub(super) type Read<T> = Result<T, HashProblem>;

/// Length of an output in bytes. Shorter ones match by accident, longer ones cost more than the parameters say.
const OUTPUT: std::ops::RangeInclusive<usize> = 16..=64;
/// Maximum length of a salt in bytes.
const LONGEST_SALT: usize = 128;

/// Parses a number in decimal digits.
pub(super) fn number<T: FromStr>(text: &str) -> Read<T> {
    let is_decimal = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_decimal {
        return Err(HashProblem::Unknown);
    }
    // More digits than the type holds are a cost out of bounds, not another scheme.
    text.parse().map_err(|_| HashProblem::OutOfBounds)
}

/// Splits a text at `$` into exactly this number of parts.
pub(super) fn parts<const N: usize>(text: &str) -> Read<[&str; N]> {
    let parts: Vec<_> = text.splitn(N + 1, '$').collect();
    parts.try_into().map_err(|_| HashProblem::Unknown)
}

/// Splits `NAME=VALUE,NAME=VALUE` into the values of exactly these names in this order.
pub(super) fn values<'a, const N: usize>(text: &'a str, names: [&str; N]) -> Read<[&'a str; N]> {
    let pairs: Vec<_> = text.splitn(N + 1, ',').collect();
    let pairs: [&str; N] = pairs.try_into().map_err(|_| HashProblem::Unknown)?;
    let mut values = [""; N];
    for ((value, pair), name) in values.iter_mut().zip(pairs).zip(names) {
        *value =
            pair.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')).ok_or(HashProblem::Unknown)?;
    }
    Ok(values)
}

/// Decodes base64, with or without padding, in the standard alphabet or in that of passlib (`.` for `+`).
pub(super) fn base64(text: &str) -> Read<Vec<u8>> {
    let text = text.trim_end_matches('=').replace('.', "+");
    STANDARD_NO_PAD.decode(text).map_err(|_| HashProblem::Unknown)
}

pub(super) fn to_base64(bytes: &[u8]) -> String {
    STANDARD_NO_PAD.encode(bytes)
}

/// Decodes hex digits of either case.
pub(super) fn hex(text: &str) -> Read<Vec<u8>> {
    hex::decode(text).map_err(|_| HashProblem::Unknown)
}

/// Checks the length of a salt.
pub(super) fn salt(bytes: Vec<u8>) -> Read<Vec<u8>> {
    if bytes.len() <= LONGEST_SALT { Ok(bytes) } else { Err(HashProblem::OutOfBounds) }
}

/// Checks the length of an output.
pub(super) fn output(bytes: Vec<u8>) -> Read<Vec<u8>> {
    if OUTPUT.contains(&bytes.len()) { Ok(bytes) } else { Err(HashProblem::OutOfBounds) }
}

/// Checks that a cost is within its bounds.
pub(super) fn within<T: PartialOrd + Copy>(value: T, least: T, most: T) -> Read<T> {
    if least <= value && value <= most { Ok(value) } else { Err(HashProblem::OutOfBounds) }
}

/// True if a text consists of the characters of crypt(3): `./`, digits and letters.
pub(super) fn is_crypt64(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'/')
}
