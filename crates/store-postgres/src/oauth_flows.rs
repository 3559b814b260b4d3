//! OAuth flows.

use async_trait::async_trait;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    NewCodeOutcome, NewFlow, NewOAuthCode, OAuthFlows, PresentedCode, StateOutcome, StoreResult, TakenCode,
};

use crate::errors::{EngineFault, unavailable};
use crate::store::PostgresStore;

#[async_trait]
impl OAuthFlows for PostgresStore {
    async fn begin_flow(&self, _flow: NewFlow) -> StoreResult<()> {
        Err(unavailable(EngineFault::Silent))
    }

    async fn take_flow(&self, _state: TokenHash, _now: Timestamp) -> StoreResult<StateOutcome> {
        Err(unavailable(EngineFault::Silent))
    }

    async fn save_oauth_code(&self, _code: NewOAuthCode) -> StoreResult<NewCodeOutcome> {
        Err(unavailable(EngineFault::Silent))
    }

    async fn take_oauth_code(&self, _presented: PresentedCode) -> StoreResult<TakenCode> {
        Err(unavailable(EngineFault::Silent))
    }
}
