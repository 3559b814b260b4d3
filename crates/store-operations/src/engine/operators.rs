//! Operations on operators: implementation of [`Operators`].

use async_trait::async_trait;
use latchkey_domain::operator::Operator;
use latchkey_store::{
    ActivateOperator, ActivatedOperator, GrantOperator, GrantedOperator, GuardedResult, Operators,
    RenewActivation, RenewedActivation, RevokeOperator, RevokedOperator, StoreResult,
};

use super::Engine;
use crate::form::{Executor, Script};
use crate::operations::grant_operator;
use crate::tables::operators;

#[async_trait]
impl<E: Executor> Operators for Engine<E> {
    async fn list_operators(&self) -> StoreResult<Vec<Operator>> {
        let mut script = Script::default();
        let listed = operators::list(&mut script);
        self.read_long(script, move |results| operators::operators(results, listed)).await
    }

    async fn grant_operator(&self, grant: GrantOperator) -> GuardedResult<GrantedOperator> {
        grant_operator::grant(&self.0, grant).await
    }

    async fn renew_activation(&self, renew: RenewActivation) -> StoreResult<RenewedActivation> {
        grant_operator::renew(&self.0, renew).await
    }

    async fn revoke_operator(&self, revoke: RevokeOperator) -> GuardedResult<RevokedOperator> {
        grant_operator::revoke(&self.0, revoke).await
    }

    async fn activate_operator(&self, activate: ActivateOperator) -> StoreResult<ActivatedOperator> {
        grant_operator::activate(&self.0, activate).await
    }
}
