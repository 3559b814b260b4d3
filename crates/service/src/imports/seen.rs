//! Values that occurred in a file, so that a second occurrence is told from a clash with an account.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use latchkey_domain::imports::ImportRecord;
use latchkey_store::SeenBefore;

/// Maximum number of values, which take 40 MB. Later ones are not remembered: a second occurrence then counts as a clash
/// with the account that the first one created.
const MOST: usize = 3_600_000;

/// Hashes of the values of earlier records.
#[derive(Default)]
pub(super) struct Seen {
    hashes: HashSet<u64>,
    state: RandomState,
    /// True in a dry run, which has no other way to find what earlier records have.
    keeps_all: bool,
}

impl Seen {
    pub(super) fn new(keeps_all: bool) -> Self {
        Self { keeps_all, ..Self::default() }
    }

    /// Remembers the values of a record, and returns which of them occurred before.
    pub(super) fn meet(&mut self, record: &ImportRecord) -> SeenBefore {
        let email = self.meet_one("email", record.email.key().as_str());
        if !self.keeps_all {
            return SeenBefore { email, ..SeenBefore::default() };
        }
        let id = record.id.is_some_and(|id| self.meet_one("id", id.to_string()));
        let username = record.username.as_ref();
        let username = username.is_some_and(|name| self.meet_one("username", name.as_str()));
        let mut identity = false;
        for one in &record.identities {
            identity |= self.meet_one(one.provider.as_str(), one.subject.as_str());
        }
        let mut passkey = false;
        for one in &record.passkeys {
            passkey |= self.meet_one("passkey", one.credential_id.as_bytes());
        }
        SeenBefore { email, id, username, identity, passkey }
    }

    fn meet_one(&mut self, kind: &str, value: impl AsRef<[u8]>) -> bool {
        let hash = self.state.hash_one((kind, value.as_ref()));
        if self.hashes.len() >= MOST {
            return self.hashes.contains(&hash);
        }
        !self.hashes.insert(hash)
    }
}
