//! Operations on passkeys: implementation of [`Passkeys`].

use async_trait::async_trait;
use latchkey_domain::factors::FactorName;
use latchkey_domain::ids::{PasskeyId, SessionId};
use latchkey_domain::passkey::{CredentialId, Passkey, Passkeys as OwnPasskeys, RpId};
use latchkey_domain::sign_in_offer::SignInOffer;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    BeginPasskey, BegunPasskey, ChangeFactors, ChangedFactors, FoundPasskey, GuardedResult, LiveSession,
    PasskeySignIn, Passkeys, RegisterPasskey, RegisteredPasskey, RemovePasskeyOf, SignInWithPasskey,
    StoreResult,
};

use super::Engine;
use crate::form::{Executor, Results, Script};
use crate::operations::{change_passkeys, register_passkey, sign_in_with_passkey};
use crate::tables::{passkeys, sessions, used_ceremonies};

#[crate::measured]
#[async_trait]
impl<E: Executor> Passkeys for Engine<E> {
    async fn begin_passkey(&self, begin: BeginPasskey) -> StoreResult<BegunPasskey> {
        register_passkey::begin(&self.0, begin).await
    }

    async fn register_passkey(&self, register: RegisterPasskey) -> StoreResult<RegisteredPasskey> {
        register_passkey::register(&self.0, register).await
    }

    async fn find_passkey(
        &self,
        credential_id: &CredentialId,
        rp_id: &RpId,
        ceremony: TokenHash,
    ) -> StoreResult<FoundPasskey> {
        let mut script = Script::default();
        let found = passkeys::find_by_credential(&mut script, credential_id, rp_id);
        let used = used_ceremonies::find(&mut script, ceremony);
        let finish = move |results: &Results<'_>| {
            Ok(match passkeys::with_account(results, found)? {
                Some((passkey, account)) => FoundPasskey::Usable(Box::new((passkey, account.user))),
                None if results.any(used)? => FoundPasskey::CeremonyUsed,
                None => FoundPasskey::Unknown,
            })
        };
        self.read(script, finish).await
    }

    async fn sign_in_with_passkey(&self, sign_in: SignInWithPasskey) -> StoreResult<PasskeySignIn> {
        sign_in_with_passkey::sign_in(&self.0, sign_in).await
    }

    async fn find_own_passkeys(
        &self,
        session_id: SessionId,
        now: Timestamp,
    ) -> StoreResult<Option<(LiveSession, OwnPasskeys)>> {
        let mut script = Script::default();
        let live = sessions::find_live(&mut script, session_id, now);
        let owned = passkeys::list_of_session(&mut script, session_id);
        let finish = move |results: &Results<'_>| {
            let Some(live) = results.find(live, sessions::read_live)? else { return Ok(None) };
            Ok(Some((live, passkeys::owned(results, owned)?.into_own())))
        };
        self.read(script, finish).await
    }

    async fn rename_passkey(
        &self,
        rename: ChangeFactors<(PasskeyId, FactorName)>,
    ) -> StoreResult<ChangedFactors<Passkey>> {
        change_passkeys::rename(&self.0, rename).await
    }

    async fn remove_passkey(
        &self,
        remove: ChangeFactors<PasskeyId>,
        offer: SignInOffer,
    ) -> StoreResult<ChangedFactors<OwnPasskeys>> {
        change_passkeys::remove(&self.0, remove, offer).await
    }

    async fn remove_passkey_of(&self, remove: RemovePasskeyOf) -> GuardedResult<bool> {
        change_passkeys::remove_of(&self.0, remove).await
    }

    async fn count_unusable_passkeys(&self, rp_id: Option<&RpId>) -> StoreResult<u64> {
        let mut script = Script::default();
        let counted = passkeys::count_others(&mut script, rp_id);
        let finish = move |results: &Results<'_>| {
            let count = results.find(counted, |cells| cells.of("passkeys").count("count"))?;
            Ok(u64::from(count.unwrap_or_default()))
        };
        self.read_long(script, finish).await
    }
}
