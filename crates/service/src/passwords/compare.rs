//! The comparison of a password with the stored hashes of an account, whichever software made them.

use latchkey_domain::email::EmailKey;
use latchkey_domain::imported_hash::{FirebaseHash, ImportedHash, Scheme, SignerKey};
use latchkey_domain::password::{Password, PasswordHash};
use latchkey_domain::sign_in::Compared;
use latchkey_store::ReplaceHash;

use super::Passwords;
use super::hashing::{Elsewhere, PasswordCheck};
use crate::error::Result;

/// Maximum number of bare digests that one call wraps. Each takes as long as a sign-in.
const WRAPPED_AT_ONCE: u32 = 200;

impl Passwords {
    /// Compares a password with the stored hashes. An address without an own hash that can be compared is worked like
    /// one of the accounts: at the cost of a class drawn for it.
    pub(super) async fn compare(
        &self,
        email: &EmailKey,
        password: Password,
        compared: Compared<'_>,
    ) -> Result<PasswordCheck> {
        let elsewhere = match compared.own {
            Some(own) if self.hasher.is_ours(own) => None,
            Some(own) => match self.read(own).await? {
                Some(hash) => Some(Elsewhere::Own(hash)),
                None => self.decoy(email),
            },
            None => self.decoy(email),
        };
        self.hasher.check(password, compared, elsewhere).await
    }

    fn decoy(&self, email: &EmailKey) -> Option<Elsewhere> {
        self.classes.draw(email).map(Elsewhere::Decoy)
    }

    /// Parses a stored hash from elsewhere. `None` if it cannot be read or is out of bounds: it is never worked.
    async fn read(&self, stored: &PasswordHash) -> Result<Option<ImportedHash>> {
        let Ok(hash) = ImportedHash::parse(stored.as_str(), true) else { return Ok(None) };
        let Scheme::Firebase(FirebaseHash { key: SignerKey::Stored(id), .. }) = hash.scheme() else {
            return Ok(Some(hash));
        };
        let id = *id;
        Ok(Some(match self.hash_key(id).await? {
            Some(key) => hash.with_signer_key(key),
            None => hash,
        }))
    }

    /// Reads the last counts of the work classes.
    pub async fn learn_classes(&self) -> Result<()> {
        let now = self.kernel.now();
        if let Some(stored) = self.kernel.store.load_statistics(now).await? {
            self.classes.replace(&stored.counts.password_classes);
        }
        Ok(())
    }

    /// Wraps bare digests in argon2id, one after another, and returns their number. The bare digests are then gone.
    pub async fn wrap_digests(&self) -> Result<u64> {
        let mut wrapped = Vec::new();
        for (user_id, from) in self.kernel.store.list_bare_digests(WRAPPED_AT_ONCE).await? {
            let Ok(hash) = ImportedHash::parse(from.as_str(), true) else { continue };
            let Scheme::Digest(digest) = hash.scheme() else { continue };
            let to = self.hasher.wrap(digest.clone()).await?.to_password_hash();
            wrapped.push(ReplaceHash { user_id, from, to, now: self.kernel.now() });
        }
        if wrapped.is_empty() {
            return Ok(0);
        }
        Ok(self.kernel.store.replace_hashes(wrapped).await?)
    }
}
