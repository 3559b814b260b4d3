//! Signer keys of Firebase's hashes. Each is stored once, sealed, and the hashes name it by its id. The hash of another
//! service has the key in it; an export of ours has the keys apart.

use std::collections::HashMap;

use latchkey_domain::ids::HashKeyId;
use latchkey_domain::imported_hash::ImportedHash;
use latchkey_domain::imports::{ImportRecord, Problem, ProblemCode};
use latchkey_store::BatchRecord;
use zeroize::Zeroizing;

use super::{Imports, RunningImport};
use crate::error::Result;

/// Maximum number of signer keys in hashes of a file. A Firebase project has one.
const MOST: usize = 16;

/// Signer keys of an import that were looked at.
#[derive(Default)]
pub(super) struct SignerKeys {
    /// Keys that stood in hashes, with the ids under which they are stored. A dry run stores none.
    given: Vec<(Zeroizing<Vec<u8>>, Option<HashKeyId>)>,
    /// Ids under which the keys of ids in hashes are stored; `None` for a missing one.
    named: HashMap<HashKeyId, Option<HashKeyId>>,
}

impl SignerKeys {
    /// Goes on with the keys of the records that an earlier process wrote.
    pub(super) fn follow(&mut self, earlier: &mut Self) {
        if self.given.is_empty() {
            self.given = std::mem::take(&mut earlier.given);
        }
    }

    /// Returns the position of a key that stood in a hash; `None` if the file has too many.
    fn meet(&mut self, key: &[u8]) -> Option<usize> {
        let known = self.given.iter().position(|(known, _)| known.as_slice() == key);
        if known.is_none() && self.given.len() < MOST {
            self.given.push((Zeroizing::new(key.to_vec()), None));
            return Some(self.given.len() - 1);
        }
        known
    }

    /// Takes note of the key in the hash of a record that an earlier process wrote.
    pub(super) fn skip(&mut self, record: &ImportRecord) {
        if let Some(key) = record.password.as_ref().and_then(ImportedHash::signer_key) {
            self.meet(key);
        }
    }
}

/// What becomes of a hash.
enum Outcome {
    /// The hash is stored as it is.
    Unchanged,
    /// The hash names this key.
    Names(HashKeyId),
    /// The hash is left out.
    Dropped(&'static str),
}

impl Imports {
    /// Stores the signer keys of a batch, and completes the hashes with their ids. A dry run stores none.
    pub(super) async fn store_signer_keys(
        &self,
        running: &mut RunningImport,
        records: &mut [BatchRecord],
    ) -> Result<()> {
        for record in records {
            let Ok(new) = &mut record.read else { continue };
            let Some(hash) = &new.record.password else { continue };
            match self.resolve(running, &new.record).await? {
                Outcome::Unchanged => {}
                Outcome::Names(id) => new.password = Some(hash.clone().with_key(id).to_password_hash()),
                Outcome::Dropped(message) => {
                    new.password = None;
                    new.record.password = None;
                    record.problems.push(Problem::of(ProblemCode::HashUnknown, "passwordHash", message));
                }
            }
        }
        Ok(())
    }

    async fn resolve(&self, running: &mut RunningImport, record: &ImportRecord) -> Result<Outcome> {
        let is_dry_run = running.job.is_dry_run;
        let hash = record.password.as_ref();
        if let Some(key) = hash.and_then(ImportedHash::signer_key) {
            return self.store_given(&mut running.signer_keys, key, is_dry_run).await;
        }
        let Some(id) = hash.and_then(ImportedHash::key_id) else { return Ok(Outcome::Unchanged) };
        let named = &mut running.signer_keys.named;
        let stored = if let Some(stored) = named.get(&id) {
            *stored
        } else {
            let stored = self.restore_named(id, record, is_dry_run).await?;
            named.insert(id, stored);
            stored
        };
        Ok(match stored {
            Some(stored) => Outcome::Names(stored),
            None => Outcome::Dropped("the signer key of the hash is missing: export with --with-secrets"),
        })
    }

    async fn store_given(&self, keys: &mut SignerKeys, key: &[u8], is_dry_run: bool) -> Result<Outcome> {
        let Some(at) = keys.meet(key) else {
            return Ok(Outcome::Dropped("the file has more than 16 signer keys"));
        };
        if is_dry_run {
            return Ok(Outcome::Unchanged);
        }
        let id = match keys.given[at].1 {
            Some(id) => id,
            None => self.passwords.save_hash_key(key).await?,
        };
        keys.given[at].1 = Some(id);
        Ok(Outcome::Names(id))
    }

    /// Returns the id under which the key of an id is stored: one of the file, or one that is here already.
    async fn restore_named(
        &self,
        id: HashKeyId,
        record: &ImportRecord,
        is_dry_run: bool,
    ) -> Result<Option<HashKeyId>> {
        match &record.hash_key {
            Some(_) if is_dry_run => Ok(Some(id)),
            Some(found) => Ok(Some(self.passwords.restore_hash_key(id, &found.key).await?)),
            None => Ok(self.passwords.hash_key(id).await?.map(|_| id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_records_that_were_written_before_count() {
        let mut earlier = SignerKeys::default();
        for number in 0..15 {
            assert_eq!(earlier.meet(&[number]), Some(number.into()));
        }
        let mut keys = SignerKeys::default();
        keys.follow(&mut earlier);
        for (key, at) in [(7, Some(7)), (15, Some(15)), (16, None), (15, Some(15))] {
            keys.follow(&mut earlier);
            assert_eq!(keys.meet(&[key]), at);
        }
    }
}
