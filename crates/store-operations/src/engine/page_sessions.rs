//! Operations on page sessions: implementation of [`PageSessions`].

use async_trait::async_trait;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::TokenHash;
use latchkey_store::{
    FoundPageCode, FoundPageSession, NewPageCode, OpenFromPage, OpenedFromPage, PageSessionUse, PageSessions,
    StoreResult,
};

use super::Engine;
use crate::form::{Executor, Repeat, Script};
use crate::operations::open_from_page;
use crate::tables::sessions::pages;
use crate::tables::{page_codes, seen_devices};

#[crate::measured]
#[async_trait]
impl<E: Executor> PageSessions for Engine<E> {
    async fn find_page_session(
        &self,
        token: TokenHash,
        browser: TokenHash,
        now: Timestamp,
    ) -> StoreResult<Option<FoundPageSession>> {
        let mut script = Script::default();
        let found = pages::find(&mut script, &token, &browser, now);
        self.read(script, move |results| results.find(found, pages::read_found)).await
    }

    async fn store_page_session_use(&self, used: PageSessionUse) -> StoreResult<()> {
        let mut script = Script::default();
        pages::store_use(&mut script, &used);
        if let Some(seen) = &used.seen {
            seen_devices::save(&mut script, used.user_id, used.id, seen, used.at);
        }
        self.write(script, Repeat::Harmless, |_| Ok(())).await
    }

    async fn save_page_code(&self, code: NewPageCode) -> StoreResult<bool> {
        let mut script = Script::default();
        let saved = page_codes::insert(&mut script, &code);
        self.write(script, Repeat::Never, move |results| Ok(results.affected(saved)? > 0)).await
    }

    async fn find_page_code(&self, code: TokenHash, now: Timestamp) -> StoreResult<Option<FoundPageCode>> {
        let mut script = Script::default();
        let found = page_codes::find(&mut script, &code, now);
        self.read(script, move |results| results.find(found, page_codes::read_found)).await
    }

    async fn open_from_page(&self, open: OpenFromPage) -> StoreResult<OpenedFromPage> {
        open_from_page::open(&self.0, open).await
    }
}
