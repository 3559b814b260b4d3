//! Options of an import that concern the reading of its file.

use std::collections::BTreeMap;

use latchkey_domain::time::Timestamp;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::values::text_of;

/// Options of an import that concern the reading of its file.
#[derive(Clone, Default)]
pub struct ImportOptions {
    /// Treats no address as verified.
    pub is_unverified: bool,
    /// Takes weak hashes.
    pub allow_weak: bool,
    /// Column of the file for each field of ours that is not guessed.
    pub columns: BTreeMap<String, String>,
    /// Stores columns without a field of ours in the metadata.
    pub keep_rest: bool,
    /// Realm of a Keycloak export that is imported.
    pub realm: Option<String>,
    /// Parameters of a Firebase project's hashes.
    pub firebase: Option<FirebaseHashes>,
    /// Time of the import, at which a ban may be over.
    pub now: Timestamp,
}

/// Parameters of a Firebase project's hashes, as its console shows them, or as they are given to `auth:import`. A number is 0
/// where the algorithm has no such parameter.
#[derive(Clone)]
pub struct FirebaseHashes {
    /// Algorithm; `SCRYPT` for those that Firebase makes.
    pub algorithm: String,
    /// Key that all hashes share, in base64.
    pub signer_key: Zeroizing<String>,
    /// Text after each salt, in base64.
    pub salt_separator: String,
    /// Rounds.
    pub rounds: u32,
    /// Binary logarithm of the memory; of `STANDARD_SCRYPT` N itself.
    pub mem_cost: u32,
    /// Parallelism p of `STANDARD_SCRYPT`.
    pub parallelization: u32,
    /// Block size r of `STANDARD_SCRYPT`.
    pub block_size: u32,
    /// Length of the output of `STANDARD_SCRYPT` in bytes; 0 if it is not given.
    pub dk_len: u32,
    /// True if a digest is of the password and then the salt.
    pub is_password_first: bool,
}

/// Error of a text that is no option.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OptionProblem(pub String);

/// Fields of ours that a column can be given for.
pub(crate) const FIELDS: [&str; 14] = [
    "id",
    "email",
    "emailVerified",
    "passwordHash",
    "name",
    "username",
    "avatarUrl",
    "bio",
    "metadata",
    "profileMetadata",
    "locale",
    "banned",
    "createdAt",
    "totpSecret",
];

impl ImportOptions {
    /// Adds a column, given as `OURS=THEIRS`.
    pub fn add_column(&mut self, text: &str) -> Result<(), OptionProblem> {
        let wanted = || OptionProblem(format!("{text:?}: wanted OURS=THEIRS, such as email=mail_address"));
        let (ours, theirs) = text.split_once('=').ok_or_else(wanted)?;
        if !FIELDS.contains(&ours) {
            let known = FIELDS.join(", ");
            return Err(OptionProblem(format!("{ours:?} is no field; wanted one of {known}")));
        }
        if theirs.is_empty() {
            return Err(wanted());
        }
        self.columns.insert(ours.to_owned(), theirs.to_owned());
        Ok(())
    }
}

impl FirebaseHashes {
    /// Parses the parameters: a JSON object, or the text of Firebase's console, `hash_config { … }`. The names are those of
    /// the console or of `auth:import`, in any spelling.
    pub fn parse(text: &str) -> Result<Self, OptionProblem> {
        let values = match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(object) => object,
            Err(_) => of_console(text),
        };
        let find = |names: &[&str]| {
            let found = values.iter().find(|(name, _)| names.contains(&plain(name).as_str()));
            found.and_then(|(_, value)| text_of(value)).filter(|text| !text.is_empty())
        };
        let algorithm = find(&["algorithm", "hashalgo"]).unwrap_or_else(|| "SCRYPT".to_owned());
        let algorithm = algorithm.to_ascii_uppercase();
        let needed = needed(&algorithm)
            .ok_or_else(|| OptionProblem(format!("{algorithm:?} is no algorithm of Firebase")))?;
        let take = |name: &str, names: &[&str]| match find(names) {
            None if needed.contains(&name) => Err(missing(name, &algorithm)),
            found => Ok(found.unwrap_or_default()),
        };
        let number = |name: &str, names: &[&str]| match take(name, names)?.as_str() {
            "" => Ok(0),
            text => text.parse().map_err(|_| OptionProblem(format!("{name} is no number"))),
        };
        let order = find(&["hashinputorder"]).unwrap_or_default().to_ascii_uppercase();
        if !matches!(order.as_str(), "" | "SALT_FIRST" | "PASSWORD_FIRST") {
            return Err(OptionProblem(
                "hash_input_order is neither SALT_FIRST nor PASSWORD_FIRST".to_owned(),
            ));
        }
        Ok(Self {
            signer_key: Zeroizing::new(take(
                "base64_signer_key",
                &["base64signerkey", "signerkey", "hashkey"],
            )?),
            salt_separator: take("base64_salt_separator", &["base64saltseparator", "saltseparator"])?,
            rounds: number("rounds", &["rounds"])?,
            mem_cost: number("mem_cost", &["memcost", "memorycost"])?,
            parallelization: number("parallelization", &["parallelization"])?,
            block_size: number("block_size", &["blocksize"])?,
            dk_len: number("dk_len", &["dklen", "derivedkeylength"])?,
            // Firebase's own library has the salt of an HMAC last without an order, that of a digest first.
            is_password_first: order == "PASSWORD_FIRST"
                || order.is_empty() && algorithm.starts_with("HMAC_"),
            algorithm,
        })
    }

    /// Formats all parameters, so that two that differ have different texts. The signer key is in it.
    #[must_use]
    pub fn canonical(&self) -> Zeroizing<String> {
        // Whoever adds a parameter adds it here.
        let Self {
            algorithm,
            signer_key,
            salt_separator,
            rounds,
            mem_cost,
            parallelization,
            block_size,
            dk_len,
            is_password_first,
        } = self;
        let numbers = [rounds, mem_cost, parallelization, block_size, dk_len].map(u32::to_string).join(" ");
        let parts = [algorithm, signer_key.as_str(), salt_separator, &numbers];
        Zeroizing::new(format!("{parts:?} {is_password_first}"))
    }
}

/// Returns the parameters that an algorithm needs; `None` if it is none of `auth:import`.
fn needed(algorithm: &str) -> Option<&'static [&'static str]> {
    match algorithm {
        "SCRYPT" => Some(&["base64_signer_key", "rounds", "mem_cost"]),
        "STANDARD_SCRYPT" => Some(&["mem_cost", "parallelization", "block_size"]),
        "HMAC_MD5" | "HMAC_SHA1" | "HMAC_SHA256" | "HMAC_SHA512" => Some(&["base64_signer_key"]),
        "MD5" | "SHA1" | "SHA256" | "SHA512" | "PBKDF_SHA1" | "PBKDF2_SHA256" => Some(&["rounds"]),
        "BCRYPT" => Some(&[]),
        _ => None,
    }
}

fn missing(name: &str, algorithm: &str) -> OptionProblem {
    OptionProblem(format!(
        "{name} is missing, which {algorithm} needs: copy the parameters from Firebase's console, Authentication, Users, \
         Password hash parameters, or give those of auth:import"
    ))
}

/// Writes a name in lower case, without separators.
pub(crate) fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Reads lines of the form `name: value,`.
fn of_console(text: &str) -> Map<String, Value> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let pair = |(name, value): (&str, &str)| {
        let value = value.trim().trim_end_matches(',').trim_matches('"');
        (name.trim().to_owned(), Value::from(value))
    };
    lines.map(pair).collect()
}
