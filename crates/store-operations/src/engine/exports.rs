//! The export of all accounts: implementation of [`Exports`].

use std::future::Future;

use async_trait::async_trait;
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{EXPORTED_PAGE, ExportReceiver, ExportedAccount, Exports, StoreResult};
use uuid::Uuid;

use super::Engine;
use crate::form::{Executor, Pages, Receiver, Results, Script};
use crate::tables::exports::PageReads;

#[async_trait]
impl<E: Executor> Exports for Engine<E> {
    async fn export_accounts(
        &self,
        since: Option<Timestamp>,
        receiver: Box<dyn ExportReceiver>,
    ) -> StoreResult<()> {
        let since = since.unwrap_or(Timestamp::from_millis(i64::MIN));
        let after = Some(UserId::from(Uuid::nil()));
        self.read_pages(AccountPages { after, since, reads: None }, Boxed(receiver)).await
    }
}

/// The pages of all accounts, in the order of their ids.
struct AccountPages {
    /// Id before the next page; `None` after the last one.
    after: Option<UserId>,
    since: Timestamp,
    reads: Option<PageReads>,
}

impl Pages for AccountPages {
    type Page = Vec<ExportedAccount>;

    fn next(&mut self) -> Option<Script> {
        let mut script = Script::default();
        self.reads = Some(PageReads::add(&mut script, self.after?, self.since));
        Some(script)
    }

    fn read(&mut self, results: &Results<'_>) -> StoreResult<Self::Page> {
        let Some(reads) = self.reads.take() else { return Ok(Vec::new()) };
        let accounts = reads.read(results)?;
        let is_full = accounts.len() == EXPORTED_PAGE as usize;
        self.after = accounts.last().filter(|_| is_full).map(|last| last.user.id);
        Ok(accounts)
    }
}

struct Boxed(Box<dyn ExportReceiver>);

impl Receiver<Vec<ExportedAccount>> for Boxed {
    fn take(&mut self, page: Vec<ExportedAccount>) -> impl Future<Output = bool> + Send {
        self.0.take(page)
    }
}
