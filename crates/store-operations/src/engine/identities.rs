//! Identities.

use async_trait::async_trait;
use latchkey_domain::identity::{Issuer, ProviderKey};
use latchkey_domain::ids::UserId;
use latchkey_store::{
    Identities, IdentityOutcome, LinkIdentity, LinkOutcome, LinkedIdentity, SignInWithIdentity, StoreResult,
    UnlinkIdentity, UnlinkOutcome,
};

use super::Engine;
use crate::form::Executor;
use crate::operations::{identities, link_identity, sign_in_with_identity, unlink_identity};

#[async_trait]
impl<E: Executor> Identities for Engine<E> {
    async fn sign_in_with_identity(&self, sign_in: SignInWithIdentity) -> StoreResult<IdentityOutcome> {
        sign_in_with_identity::sign_in_with_identity(&self.0, sign_in).await
    }

    async fn link_identity(&self, link: LinkIdentity) -> StoreResult<LinkOutcome> {
        link_identity::link_identity(&self.0, link).await
    }

    async fn unlink_identity(&self, unlink: UnlinkIdentity) -> StoreResult<UnlinkOutcome> {
        unlink_identity::unlink_identity(&self.0, unlink).await
    }

    async fn list_identities(&self, user_id: UserId) -> StoreResult<Vec<LinkedIdentity>> {
        identities::list(&self.0, user_id).await
    }

    async fn settle_issuers(&self, issuers: &[(ProviderKey, Issuer)]) -> StoreResult<()> {
        identities::settle_issuers(&self.0, issuers).await
    }
}
