//! Rate limits that all instances share: implementation of [`Limits`].

use async_trait::async_trait;
use latchkey_domain::limits::Take;
use latchkey_domain::time::Timestamp;
use latchkey_store::{LimitedResult, Limits};

use super::Engine;
use crate::form::{Executor, Repeat, Script};

#[async_trait]
impl<E: Executor> Limits for Engine<E> {
    async fn take(&self, takes: &[Take], now: Timestamp) -> LimitedResult<()> {
        if takes.is_empty() {
            return Ok(Ok(()));
        }
        let mut script = Script::default();
        let limit = script.take(takes, now);
        self.0
            .write(script, Repeat::Harmless, move |results| Ok(results.limited(limit)?.map_or(Ok(()), Err)))
            .await
    }
}
