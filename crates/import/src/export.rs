//! What surrounds the accounts of an export of ours: the head, the signer keys of hashes, and the end, which has the number
//! of accounts and the SHA-256 of all lines before it.

use std::collections::HashMap;
use std::sync::Arc;

use latchkey_domain::imported_hash::{HashKeyId, ImportedHash, parse_signer_key};
use latchkey_domain::imports::{ImportHashKey, ImportRecord, Problem, ProblemCode};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::read_error::ReadError;
use crate::source::{HEAD, Row, Source};

/// Format of the exports that are read.
const FORMAT: u64 = 1;
/// Maximum number of signer keys, which are in memory.
const MOST_KEYS: usize = 1_000;

/// What was read of an export.
#[derive(Default)]
pub(crate) struct Export {
    is_one: bool,
    has_ended: bool,
    users: u64,
    keys: HashMap<HashKeyId, Arc<Zeroizing<Vec<u8>>>>,
}

impl Export {
    /// Takes note of a row. `source` has just returned it.
    pub(crate) fn meet(&mut self, row: &mut Row, source: &dyn Source) -> Result<(), ReadError> {
        if self.has_ended {
            return Err(ReadError::Altered);
        }
        let Ok(object) = &row.object else { return Ok(()) };
        let Some(kind) = object.get("kind").filter(|kind| !kind.is_null()) else { return Ok(()) };
        match kind.as_str() {
            Some(HEAD) => self.begin(object)?,
            Some("user") => self.users += 1,
            Some("hashKey") if self.is_one => {
                if let Err(problem) = self.keep_key(object) {
                    row.object = Err(problem);
                }
            }
            Some("end") if self.is_one => self.end(object, source.digest())?,
            Some("provider" | "settings") if self.is_one => {}
            _ => row.object = Err(Problem::of(ProblemCode::JsonInvalid, "kind", "is none that is read here")),
        }
        Ok(())
    }

    fn begin(&mut self, object: &Map<String, Value>) -> Result<(), ReadError> {
        self.is_one = true;
        match object.get("format").and_then(Value::as_u64) {
            Some(FORMAT) => Ok(()),
            _ => Err(ReadError::Newer),
        }
    }

    fn keep_key(&mut self, object: &Map<String, Value>) -> Result<(), Problem> {
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        let id = text("id").and_then(|text| text.parse::<HashKeyId>().ok());
        let key = text("key").and_then(|text| parse_signer_key(text).ok());
        match id.zip(key) {
            Some((id, key)) if self.keys.len() < MOST_KEYS => {
                self.keys.insert(id, Arc::new(key));
                Ok(())
            }
            _ => {
                let message = "a signer key is malformed, or there are more than 1,000";
                Err(Problem::of(ProblemCode::HashUnknown, "key", message))
            }
        }
    }

    fn end(&mut self, object: &Map<String, Value>, digest: Option<[u8; 32]>) -> Result<(), ReadError> {
        self.has_ended = true;
        if object.get("users").and_then(Value::as_u64) != Some(self.users) {
            return Err(ReadError::Altered);
        }
        let told = object.get("sha256").and_then(Value::as_str);
        match digest {
            Some(digest) if told != Some(&hex::encode(digest)) => Err(ReadError::Altered),
            _ => Ok(()),
        }
    }

    /// True if the file is an export, and has no end.
    pub(crate) fn is_torn(&self) -> bool {
        self.is_one && !self.has_ended
    }

    /// Adds the signer key of its hash to a record.
    pub(crate) fn complete(&self, record: &mut ImportRecord) {
        let id = record.password.as_ref().and_then(ImportedHash::key_id);
        let found = id.and_then(|id| Some((id, self.keys.get(&id)?)));
        record.hash_key = found.map(|(id, key)| ImportHashKey { id, key: Arc::clone(key) });
    }
}
