//! Contract for password hashes from elsewhere: the keys that some need, and the wrapping of bare digests.

use async_trait::async_trait;
use latchkey_domain::ids::{HashKeyId, UserId};
use latchkey_domain::password::PasswordHash;
use latchkey_domain::time::Timestamp;

use crate::error::StoreResult;

/// Maximum number of stored hash keys.
pub const MAX_HASH_KEYS: u32 = 1_000;

/// Signer key that hashes of one project share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashKey {
    /// Id in the texts of the hashes.
    pub id: HashKeyId,
    /// The sealed key.
    pub sealed: Vec<u8>,
}

/// A hash that takes the place of another one of the same password.
#[derive(Debug, Clone)]
pub struct ReplaceHash {
    /// Id of the user.
    pub user_id: UserId,
    /// Hash that is replaced. If the account has another one by now, nothing happens.
    pub from: PasswordHash,
    /// Hash in its place.
    pub to: PasswordHash,
    /// Time of the request.
    pub now: Timestamp,
}

/// Password hashes from elsewhere.
#[async_trait]
pub trait ImportedHashes {
    /// Stores a hash key; a stored one of this id stays as it is.
    async fn save_hash_key(&self, key: HashKey, now: Timestamp) -> StoreResult<()>;

    /// Finds a hash key; `None` if there is none of this id.
    async fn find_hash_key(&self, id: HashKeyId) -> StoreResult<Option<HashKey>>;

    /// Lists accounts whose hash is a bare digest, with it, at most `limit`.
    async fn list_bare_digests(&self, limit: u32) -> StoreResult<Vec<(UserId, PasswordHash)>>;

    /// Replaces hashes, each if the account still has it. Nothing else of the accounts changes. Returns the number of
    /// replaced ones.
    async fn replace_hashes(&self, replaced: Vec<ReplaceHash>) -> StoreResult<u64>;
}
