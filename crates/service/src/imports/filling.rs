//! A batch while it is read. It is full at a number of records, and at a weight: an estimate of the memory and of the rows of
//! its records. So neither large records nor many identities make a batch that memory or a time limit of the database cannot
//! take.

use latchkey_domain::imports::{ImportRecord, Problem};
use latchkey_store::BatchRecord;
use serde_json::{Map, Value};

/// Weight at which a batch is full.
const MOST: usize = 4 * 1024 * 1024;
/// Weight of a record without its values.
const RECORD: usize = 512;
/// Weight of a row beside the account, such as an identity. PostgreSQL counts each in a trigger.
const ROW: usize = 1024;
/// Weight of a value of JSON, of a key, and of a problem, without its text.
const NODE: usize = 64;

/// A batch while it is read.
#[derive(Default)]
pub(super) struct Filling {
    records: Vec<BatchRecord>,
    weight: usize,
}

impl Filling {
    pub(super) fn push(&mut self, record: BatchRecord) {
        self.weight += weight_of(&record);
        self.records.push(record);
    }

    /// True if the batch has this number of records, or its weight is reached.
    pub(super) fn is_full(&self, size: usize) -> bool {
        self.records.len() >= size || self.weight >= MOST
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the records, and begins the next batch.
    pub(super) fn take(&mut self) -> Vec<BatchRecord> {
        std::mem::take(self).records
    }
}

fn weight_of(record: &BatchRecord) -> usize {
    let read = record.read.as_ref().map_or(0, |account| weight_of_account(&account.record));
    RECORD + read + record.problems.iter().map(weight_of_problem).sum::<usize>()
}

fn weight_of_account(record: &ImportRecord) -> usize {
    let rows = record.identities.len() + record.totp.len() + record.passkeys.len();
    let fields = [record.metadata.as_map(), record.profile_metadata.as_map(), &record.custom];
    rows * ROW + fields.into_iter().map(weight_of_fields).sum::<usize>()
}

fn weight_of_problem(problem: &Problem) -> usize {
    NODE + problem.message.len()
}

fn weight_of_fields(fields: &Map<String, Value>) -> usize {
    fields.iter().map(|(key, value)| NODE + key.len() + weight_of_value(value)).sum()
}

fn weight_of_value(value: &Value) -> usize {
    NODE + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(weight_of_value).sum(),
        Value::Object(fields) => weight_of_fields(fields),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn values_weigh_their_texts_and_their_nodes() {
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let few = weight_of_value(&value(r#"{"a": "b"}"#));
        assert!(weight_of_value(&value(&format!(r#"{{"a": "{}"}}"#, "b".repeat(1_000)))) > few + 900);
        assert!(
            weight_of_value(&value(&format!(r#"{{"a": [{}0]}}"#, "0,".repeat(1_000)))) > few + 1_000 * NODE
        );
    }
}
