//! OAuth flows.

use async_trait::async_trait;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    NewCodeOutcome, NewFlow, NewOAuthCode, OAuthFlows, PresentedCode, StateOutcome, StoreResult, TakenCode,
};

use crate::errors::{EngineFault, unavailable};
use crate::store::SqliteStore;

#[async_trait]
impl OAuthFlows for SqliteStore {
    async fn begin_flow(&self, _flow: NewFlow) -> StoreResult<()> {
        Err(unavailable(EngineFault::Stopped))
    }

    async fn take_flow(&self, _state: TokenHash, _now: Timestamp) -> StoreResult<StateOutcome> {
        Err(unavailable(EngineFault::Stopped))
    }

    async fn save_oauth_code(&self, _code: NewOAuthCode) -> StoreResult<NewCodeOutcome> {
        Err(unavailable(EngineFault::Stopped))
    }

    async fn take_oauth_code(&self, _presented: PresentedCode) -> StoreResult<TakenCode> {
        Err(unavailable(EngineFault::Stopped))
    }
}
