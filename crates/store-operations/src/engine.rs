//! Implementation of the storage contract ([`latchkey_store::Store`]) for any engine, one file per trait. Short
//! operations are in the methods of the traits; the others are in [`crate::operations`].

mod accounts;
mod admin_users;
mod audit;
mod challenges;
mod deletions;
mod email_changes;
mod email_codes;
mod email_sign_in;
mod exports;
mod factors;
mod identities;
mod imported_hashes;
mod imports;
mod instances;
mod limits;
mod oauth_flows;
mod oauth_providers;
mod operators;
mod outbox;
mod page_sessions;
mod passkeys;
mod profiles;
mod restores;
mod sealed_values;
mod search_feed;
mod session_list;
mod sessions;
mod settings;
mod signing_keys;
mod statistics;
mod undo;

use std::ops::Deref;

use async_trait::async_trait;
use latchkey_domain::page::Page;
use latchkey_domain::search::SearchQuery;
use latchkey_domain::time::Timestamp;
use latchkey_metrics::{Collect, Page as MetricsPage};
use latchkey_store::{ProfileHits, SearchFeed, Store, StoreResult};

use crate::form::{Executor, Metered, NameQuery};
use crate::meter::Meter;

pub use accounts::seeding;

/// Store that runs the shared operations on an engine's executor, and measures them.
pub struct Engine<E>(Metered<E>);

impl<E: Executor> Engine<E> {
    pub fn new(executor: E) -> Self {
        Self(Metered::new(executor))
    }

    pub fn into_inner(self) -> E {
        self.0.into_inner()
    }

    const fn meter(&self) -> &Meter {
        self.0.meter()
    }
}

impl<E> Deref for Engine<E> {
    type Target = Metered<E>;

    fn deref(&self) -> &Metered<E> {
        &self.0
    }
}

/// Operations that have no common implementation: each engine implements search, readiness check and purge itself.
#[async_trait]
pub trait Own: Executor + SearchFeed + Collect {
    /// Implements [`latchkey_store::Profiles::search_profiles`].
    async fn search_profiles(&self, query: &SearchQuery, page: Page) -> StoreResult<ProfileHits>;

    /// Writes the query of a search for names in the words of the engine, for the list of users.
    fn name_query(query: &SearchQuery, longest: String, others: Vec<String>) -> NameQuery;

    /// Implements [`Store::check`].
    async fn check(&self) -> StoreResult<()>;

    /// Implements [`Store::purge`].
    async fn purge(&self, now: Timestamp) -> StoreResult<u64>;
}

#[crate::measured]
#[async_trait]
impl<E: Own> Store for Engine<E> {
    async fn check(&self) -> StoreResult<()> {
        Own::check(&*self.0).await
    }

    async fn purge(&self, now: Timestamp) -> StoreResult<u64> {
        Own::purge(&*self.0, now).await
    }
}

impl<E: Own> Collect for Engine<E> {
    fn collect(&self, page: &mut MetricsPage) {
        self.meter().collect(page);
        Collect::collect(&*self.0, page);
    }

    fn most_series(&self) -> usize {
        self.meter().most_series() + Collect::most_series(&*self.0)
    }
}
