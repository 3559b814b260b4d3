//! Values that records of a file have taken, so that a second occurrence is told from a clash with an account. A record that
//! was refused has taken nothing: another one may have its values.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use latchkey_domain::identity::Issuer;
use latchkey_domain::imports::{ImportRecord, RecordOutcome};
use latchkey_store::{BatchRecord, RecordResult, SeenBefore};

use super::signer_keys::SignerKeys;

/// Maximum number of values, which take 40 MB. Later ones are not remembered: a second occurrence then counts as a clash
/// with the account that the first one created.
const MOST: usize = 3_600_000;

/// Hashes of the values that earlier records have taken.
#[derive(Default)]
pub(super) struct Seen {
    hashes: HashSet<u64>,
    state: RandomState,
    /// Signer keys of the records that an earlier process wrote, until the first batch.
    pub(super) signer_keys: SignerKeys,
    /// True in a dry run, which has no other way to find what earlier records have.
    keeps_all: bool,
}

/// Hashes of the values of a record.
struct Values {
    email: u64,
    id: Option<u64>,
    username: Option<u64>,
    identities: Vec<u64>,
    passkeys: Vec<u64>,
}

/// Hashes of the values of a batch, which are kept once it is known what became of its records.
pub(super) struct BatchValues(Vec<Option<Values>>);

impl Seen {
    pub(super) fn new(keeps_all: bool) -> Self {
        Self { keeps_all, ..Self::default() }
    }

    /// Remembers address and signer key of a record that an earlier process wrote. What became of it is not known here.
    pub(super) fn skip(&mut self, record: &ImportRecord) {
        self.signer_keys.skip(record);
        let values = self.values(record);
        self.keep_one(values.email);
    }

    /// Tells the records of a batch which of their values earlier batches have taken.
    pub(super) fn meet(&self, records: &mut [BatchRecord]) -> BatchValues {
        let meet = |record: &mut BatchRecord| {
            let new = record.read.as_mut().ok()?;
            let values = self.values(&new.record);
            new.seen = self.find(&values);
            Some(values)
        };
        BatchValues(records.iter_mut().map(meet).collect())
    }

    /// Remembers what the records of a batch have taken. Its results may end before its records.
    pub(super) fn keep(&mut self, batch: BatchValues, results: &[RecordResult]) {
        for (values, result) in batch.0.into_iter().zip(results) {
            if let Some(values) = values {
                self.keep_taken(&values, result);
            }
        }
    }

    fn keep_taken(&mut self, values: &Values, result: &RecordResult) {
        if result.outcome == RecordOutcome::Refused {
            return;
        }
        self.keep_one(values.email);
        if !self.keeps_all {
            return;
        }
        if result.outcome == RecordOutcome::Created {
            let once = values.id.iter().chain(&values.username);
            once.chain(&values.identities).chain(&values.passkeys).for_each(|value| self.keep_one(*value));
        }
        result.linked.iter().for_each(|at| self.keep_one(values.identities[*at]));
    }

    fn values(&self, record: &ImportRecord) -> Values {
        let hash = |kind: &str, value: &[u8]| self.state.hash_one((kind, value));
        let email = hash("email", record.email.key().as_str().as_bytes());
        if !self.keeps_all {
            return Values { email, id: None, username: None, identities: Vec::new(), passkeys: Vec::new() };
        }
        let identities = record.identities.iter();
        let passkeys = record.passkeys.iter();
        Values {
            email,
            id: record.id.map(|id| hash("id", id.as_uuid().as_bytes())),
            username: record.username.as_ref().map(|name| hash("username", name.as_str().as_bytes())),
            identities: identities
                .map(|one| {
                    let issuer = one.issuer.as_ref().map(Issuer::as_str);
                    self.state.hash_one((one.provider.as_str(), issuer, one.subject.as_str()))
                })
                .collect(),
            passkeys: passkeys.map(|one| hash("passkey", one.credential_id.as_bytes())).collect(),
        }
    }

    fn find(&self, values: &Values) -> SeenBefore {
        let is_kept = |value: &u64| self.hashes.contains(value);
        let identities = values.identities.iter().enumerate();
        SeenBefore {
            email: is_kept(&values.email),
            id: values.id.as_ref().is_some_and(is_kept),
            username: values.username.as_ref().is_some_and(is_kept),
            identities: identities.filter(|(_, value)| is_kept(value)).map(|(at, _)| at).collect(),
            passkey: values.passkeys.iter().any(is_kept),
        }
    }

    fn keep_one(&mut self, value: u64) {
        if self.hashes.len() < MOST {
            self.hashes.insert(value);
        }
    }
}
