//! Identities.

use async_trait::async_trait;
use latchkey_domain::ids::UserId;
use latchkey_store::{
    Identities, IdentityOutcome, LinkIdentity, LinkOutcome, LinkedIdentity, SignInWithIdentity, StoreResult,
    UnlinkIdentity, UnlinkOutcome,
};

use crate::errors::{EngineFault, unavailable};
use crate::store::PostgresStore;

#[async_trait]
impl Identities for PostgresStore {
    async fn sign_in_with_identity(&self, _sign_in: SignInWithIdentity) -> StoreResult<IdentityOutcome> {
        Err(unavailable(EngineFault::Silent))
    }

    async fn link_identity(&self, _link: LinkIdentity) -> StoreResult<LinkOutcome> {
        Err(unavailable(EngineFault::Silent))
    }

    async fn unlink_identity(&self, _unlink: UnlinkIdentity) -> StoreResult<UnlinkOutcome> {
        Err(unavailable(EngineFault::Silent))
    }

    async fn list_identities(&self, _user_id: UserId) -> StoreResult<Vec<LinkedIdentity>> {
        Err(unavailable(EngineFault::Silent))
    }
}
