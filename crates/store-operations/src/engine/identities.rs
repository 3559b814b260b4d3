//! Operations on identities of external providers: implementation of [`Identities`].

use async_trait::async_trait;
use latchkey_domain::identity::{Issuer, LegacyIdentities, ProviderKey, VerifiedIdentity};
use latchkey_domain::ids::UserId;
use latchkey_store::{
    Identities, IdentityOutcome, LinkIdentity, LinkOutcome, LinkedIdentity, SignInWithIdentity, StoreResult,
    UnlinkIdentity, UnlinkOutcome,
};

use super::Engine;
use crate::form::{Executor, Repeat, Script};
use crate::operations::{link_identity, sign_in_with_identity, unlink_identity};
use crate::tables::identities::{self, Sought};

#[crate::measured]
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

    async fn find_identity_owner(
        &self,
        identity: &VerifiedIdentity,
        earlier: LegacyIdentities,
    ) -> StoreResult<Option<UserId>> {
        let mut script = Script::default();
        let found = identities::find_owner(&mut script, Sought { identity, earlier });
        self.read(script, move |results| Ok(identities::owner(results, found)?.map(|owned| owned.owner)))
            .await
    }

    async fn list_identities(&self, user_id: UserId) -> StoreResult<Vec<LinkedIdentity>> {
        let mut script = Script::default();
        let all = identities::list_of(&mut script, user_id);
        self.read(script, move |results| results.list(all, identities::read_linked)).await
    }

    async fn settle_issuers(&self, issuers: &[(ProviderKey, Issuer)]) -> StoreResult<()> {
        let mut script = Script::default();
        for (provider, issuer) in issuers {
            identities::settle(&mut script, provider, issuer);
        }
        self.write(script, Repeat::Harmless, |_| Ok(())).await
    }
}
