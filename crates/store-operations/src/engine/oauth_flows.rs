//! OAuth flows.

use async_trait::async_trait;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    NewCodeOutcome, NewFlow, NewOAuthCode, OAuthFlows, PresentedCode, StateOutcome, StoreResult, TakenCode,
};

use super::Engine;
use crate::form::Executor;
use crate::operations::oauth_flows;

#[async_trait]
impl<E: Executor> OAuthFlows for Engine<E> {
    async fn begin_flow(&self, flow: NewFlow) -> StoreResult<()> {
        oauth_flows::begin(&self.0, flow).await
    }

    async fn take_flow(&self, state: TokenHash, now: Timestamp) -> StoreResult<StateOutcome> {
        oauth_flows::take(&self.0, state, now).await
    }

    async fn save_oauth_code(&self, code: NewOAuthCode) -> StoreResult<NewCodeOutcome> {
        oauth_flows::save_code(&self.0, code).await
    }

    async fn take_oauth_code(&self, presented: PresentedCode) -> StoreResult<TakenCode> {
        oauth_flows::take_code(&self.0, presented).await
    }
}
