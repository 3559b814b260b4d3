//! Implementation of the storage contract for all engines, one file per trait.

mod accounts;
mod admin;
mod audit;
mod email_codes;
mod identities;
mod limits;
mod oauth_flows;
mod oauth_providers;
mod outbox;
mod profiles;
mod search_feed;
mod sessions;
mod settings;
mod signing_keys;

use std::ops::Deref;

use async_trait::async_trait;
use latchkey_domain::page::Page;
use latchkey_domain::search::SearchQuery;
use latchkey_domain::time::Timestamp;
use latchkey_store::{ProfileHits, SearchFeed, Store, StoreResult};

use crate::form::Executor;

/// Implements the storage contract on an executor.
pub struct Engine<E>(E);

impl<E: Executor> Engine<E> {
    /// Wraps an executor.
    pub const fn new(executor: E) -> Self {
        Self(executor)
    }

    /// Returns the executor.
    pub fn into_inner(self) -> E {
        self.0
    }
}

impl<E> Deref for Engine<E> {
    type Target = E;

    fn deref(&self) -> &E {
        &self.0
    }
}

/// Operations that each engine implements in its own way.
#[async_trait]
pub trait Own: Executor + SearchFeed {
    /// Implements [`Profiles::search_profiles`].
    async fn search_profiles(&self, query: &SearchQuery, page: Page) -> StoreResult<ProfileHits>;

    /// Implements [`Store::check`].
    async fn check(&self) -> StoreResult<()>;

    /// Implements [`Store::purge`].
    async fn purge(&self, now: Timestamp) -> StoreResult<u64>;
}

#[async_trait]
impl<E: Own> Store for Engine<E> {
    async fn check(&self) -> StoreResult<()> {
        Own::check(&self.0).await
    }

    async fn purge(&self, now: Timestamp) -> StoreResult<u64> {
        Own::purge(&self.0, now).await
    }
}
