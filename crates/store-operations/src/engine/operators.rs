//! Operations on operators: implementation of [`Operators`].

use std::collections::BTreeMap;

use async_trait::async_trait;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::{AddressGrant, Effect, Operator, Role};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    ActivateOperator, ActivatedOperator, AdoptGrant, FoundConsoleSession, GrantAddress, GrantOperator,
    GrantedAddress, GrantedOperator, GuardedResult, Operators, RenewActivation, RenewedActivation,
    RevokeAddress, RevokeOperator, RevokedOperator, StoreResult,
};

use super::Engine;
use crate::form::{Executor, Script};
use crate::operations::operator_guard::OperatorReads;
use crate::operations::{grant_address, grant_operator};
use crate::tables::sessions::console;
use crate::tables::{operator_addresses, operators};

#[crate::measured]
#[async_trait]
impl<E: Executor> Operators for Engine<E> {
    async fn list_operators(&self) -> StoreResult<Vec<Operator>> {
        let mut script = Script::default();
        let listed = operators::list(&mut script);
        self.read_long(script, move |results| operators::operators(results, listed)).await
    }

    async fn list_protected_accounts(&self) -> StoreResult<BTreeMap<UserId, Role>> {
        let mut script = Script::default();
        let reads = OperatorReads::find(&mut script, Effect::Change);
        self.read_long(script, move |results| reads.protected(results)).await
    }

    async fn find_operator(&self, user_id: UserId) -> StoreResult<Option<Operator>> {
        let mut script = Script::default();
        let found = operators::find(&mut script, user_id);
        self.read(script, move |results| results.find(found, operators::read_operator)).await
    }

    async fn is_activation_valid(
        &self,
        user_id: UserId,
        token: TokenHash,
        now: Timestamp,
    ) -> StoreResult<bool> {
        let mut script = Script::default();
        let found = operators::find_activation(&mut script, user_id, &token, now);
        self.read(script, move |results| results.any(found)).await
    }

    async fn find_console_session(
        &self,
        token: TokenHash,
        browser: TokenHash,
        now: Timestamp,
    ) -> StoreResult<Option<FoundConsoleSession>> {
        let mut script = Script::default();
        let found = console::find(&mut script, &token, &browser, now);
        self.read(script, move |results| results.find(found, console::read_found)).await
    }

    async fn list_address_grants(&self) -> StoreResult<Vec<AddressGrant>> {
        let mut script = Script::default();
        let listed = operator_addresses::list(&mut script);
        self.read(script, move |results| results.list(listed, operator_addresses::read)).await
    }

    async fn find_address_grant(
        &self,
        token: TokenHash,
        now: Timestamp,
    ) -> StoreResult<Option<AddressGrant>> {
        let mut script = Script::default();
        let found = operator_addresses::find_of_token(&mut script, &token, now);
        self.read(script, move |results| results.find(found, operator_addresses::read)).await
    }

    async fn grant_address(&self, grant: GrantAddress) -> StoreResult<GrantedAddress> {
        grant_address::grant(&self.0, grant).await
    }

    async fn revoke_address(&self, revoke: RevokeAddress) -> StoreResult<bool> {
        grant_address::revoke(&self.0, revoke).await
    }

    async fn adopt_grant(&self, adopt: AdoptGrant) -> StoreResult<bool> {
        grant_address::adopt(&self.0, adopt).await
    }

    async fn grant_operator(&self, grant: GrantOperator) -> GuardedResult<GrantedOperator> {
        grant_operator::grant(&self.0, grant).await
    }

    async fn renew_activation(&self, renew: RenewActivation) -> GuardedResult<RenewedActivation> {
        grant_operator::renew(&self.0, renew).await
    }

    async fn revoke_operator(&self, revoke: RevokeOperator) -> GuardedResult<RevokedOperator> {
        grant_operator::revoke(&self.0, revoke).await
    }

    async fn activate_operator(&self, activate: ActivateOperator) -> StoreResult<ActivatedOperator> {
        grant_operator::activate(&self.0, activate).await
    }
}
