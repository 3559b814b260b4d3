//! Texts of hashes that the domain knows, from their parts. `None` is a hash whose meaning is not certain: an account with
//! a new password is better than one whose right password is refused for ever.

use std::fmt::Display;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};

use crate::draft::Draft;

/// Text of no scheme, which is reported as `hash_unknown`.
pub(super) const UNKNOWN: &str = "unknown";

/// Gives the draft its hash, or one that is reported as unknown.
pub(super) fn set(draft: &mut Draft, hash: Option<String>) {
    draft.password = Some(hash.unwrap_or_else(|| UNKNOWN.to_owned()));
}

/// Returns a text if it begins as the texts of its scheme do.
pub(super) fn starting(text: String, start: &str) -> Option<String> {
    text.starts_with(start).then_some(text)
}

/// Returns a hash of scrypt. `n` is N itself; salt and output are in base64.
pub(super) fn scrypt(n: u64, r: u32, p: u32, salt: &str, output: &str) -> Option<String> {
    n.is_power_of_two().then(|| format!("$scrypt$ln={},r={r},p={p}${salt}${output}", n.trailing_zeros()))
}

/// Returns a hash of Firebase's scrypt; all but the costs are in base64.
pub(super) fn firebase(
    rounds: impl Display,
    memory: impl Display,
    key: &str,
    separator: &str,
    salt: &str,
    output: &str,
) -> String {
    format!("$fbscrypt$v=1,n={memory},r={rounds},p=1,ss={separator},sk={key}${salt}${output}")
}

/// Writes hex digits in base64.
pub(super) fn base64_of_hex(text: &str) -> Option<String> {
    hex::decode(text).ok().map(|bytes| STANDARD.encode(bytes))
}

/// Decodes base64 of either alphabet, with or without padding.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    STANDARD_NO_PAD.decode(text.trim_end_matches('=').replace('-', "+").replace('_', "/")).ok()
}

/// Returns an HMAC of the password and a salt before it or after it; all but the algorithm and the place are in base64.
pub(super) fn salted_hmac(
    algorithm: &str,
    key: &str,
    salt: &str,
    is_before: bool,
    output: &str,
) -> Option<String> {
    let (key, salt) = (base64(key)?, base64(salt)?);
    let place = if is_before { "keybefore" } else { "keyafter" };
    let both = STANDARD.encode([&[u8::try_from(key.len()).ok()?][..], &key, &salt].concat());
    Some(format!("$digest$a={algorithm},s={place}${both}${output}"))
}
