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
    /// Parameters of a Firebase project's hashes.
    pub firebase: Option<FirebaseHashes>,
    /// Time of the import, at which a ban may be over.
    pub now: Timestamp,
}

/// Parameters of a Firebase project's hashes, as its console shows them.
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
    /// Binary logarithm of the memory.
    pub mem_cost: u32,
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
    /// Parses the parameters: a JSON object, or the text of Firebase's console, `hash_config { … }`.
    pub fn parse(text: &str) -> Result<Self, OptionProblem> {
        let values = match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(object) => object,
            Err(_) => of_console(text),
        };
        let find = |name: &str| values.get(name).and_then(text_of).filter(|text| !text.is_empty());
        let number = |name: &str, default: u32| match find(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| OptionProblem(format!("{name} is no number"))),
        };
        let algorithm = find("algorithm").unwrap_or_else(|| "SCRYPT".to_owned());
        let signer_key = find("base64_signer_key").or_else(|| find("signerKey")).unwrap_or_default();
        if signer_key.is_empty() && matches!(algorithm.as_str(), "SCRYPT") {
            let text = "base64_signer_key is missing: copy the parameters from Firebase's console, Authentication, \
                        Users, Password hash parameters";
            return Err(OptionProblem(text.to_owned()));
        }
        Ok(Self {
            algorithm: algorithm.to_ascii_uppercase(),
            signer_key: Zeroizing::new(signer_key),
            salt_separator: find("base64_salt_separator")
                .or_else(|| find("saltSeparator"))
                .unwrap_or_default(),
            rounds: number("rounds", 8)?,
            mem_cost: number("mem_cost", 14)?,
        })
    }
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
