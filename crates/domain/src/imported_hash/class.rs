//! Work classes: hashes of one class cost the same. The class is the beginning of the stored text, with scheme and cost,
//! up to the salt.

use super::{HashProblem, ImportedHash};

/// Maximum length of a class in bytes. An index of beginnings of this length has each class in one range.
pub const CLASS_LENGTH: usize = 40;

/// Schemes whose class ends with the third `$`.
const BEFORE_THE_SALT: [&str; 10] =
    ["2a", "2b", "2y", "scrypt", "pbkdf2-sha1", "pbkdf2-sha256", "pbkdf2-sha512", "5", "6", "wrapped"];

/// Returns the work class of a stored text; `None` if the text is of no known scheme.
#[must_use]
pub fn class(text: &str) -> Option<&str> {
    let mut names = text.split('$');
    let end = match (names.next()?, names.next()?) {
        ("", "argon2id" | "argon2i" | "argon2d") | ("bcrypt_sha256", _) => nth(text, 4),
        ("", "fbscrypt") => text.match_indices(',').nth(2).map(|(at, _)| at + 1),
        ("", "P" | "H") => Some(4),
        ("", "digest") => nth(text, 2),
        ("", name) if BEFORE_THE_SALT.contains(&name) => nth(text, 3),
        _ => None,
    }?;
    text.get(..end).filter(|class| class.len() <= CLASS_LENGTH)
}

/// Returns the name of the scheme of a work class, from a finite list: `other` for an unknown class.
#[must_use]
pub fn scheme_name(class: &str) -> &'static str {
    let mut names = class.split('$');
    match (names.next(), names.next()) {
        (Some("bcrypt_sha256"), _) => "bcrypt_sha256",
        (Some(""), Some(name)) => match name {
            "argon2id" => "argon2id",
            "argon2i" => "argon2i",
            "argon2d" => "argon2d",
            "2a" | "2b" | "2y" => "bcrypt",
            "scrypt" => "scrypt",
            "fbscrypt" => "fbscrypt",
            "pbkdf2-sha1" | "pbkdf2-sha256" | "pbkdf2-sha512" => "pbkdf2",
            "5" | "6" => "sha_crypt",
            "P" | "H" => "phpass",
            "digest" => "digest",
            "wrapped" => "wrapped",
            _ => "other",
        },
        _ => "other",
    }
}

/// Returns the end of the text's nth `$`.
fn nth(text: &str, number: usize) -> Option<usize> {
    text.match_indices('$').nth(number - 1).map(|(at, _)| at + 1)
}

/// Returns a hash of this class that matches no password. Its salt and output are zeros.
pub fn decoy(class: &str) -> Result<ImportedHash, HashProblem> {
    let zeros = |bytes: usize| super::fields::to_base64(&vec![0; bytes]);
    let salted = format!("{}${}", zeros(16), zeros(32));
    let rest = match class.split('$').take(2).collect::<Vec<_>>()[..] {
        ["", "2a" | "2b" | "2y"] | ["bcrypt_sha256", _] => ".".repeat(53),
        ["", "fbscrypt"] => format!("sk={}${}${}", zeros(64), zeros(11), zeros(64)),
        ["", "5"] => format!("{}${}", ".".repeat(16), ".".repeat(43)),
        ["", "6"] => format!("{}${}", ".".repeat(16), ".".repeat(86)),
        ["", "P" | "H"] => ".".repeat(30),
        ["", "digest"] => format!("a=sha256,s=before${salted}"),
        ["", "wrapped"] => format!("a=sha256,s=before${}${salted}", zeros(16)),
        _ => salted,
    };
    ImportedHash::parse(&format!("{class}{rest}"), true)
}
