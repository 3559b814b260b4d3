//! The export of all accounts: implementation of [`Exports`].

use async_trait::async_trait;
use latchkey_domain::ids::UserId;
use latchkey_domain::time::Timestamp;
use latchkey_store::{EXPORTED_PAGE, ExportReceiver, ExportedInstance, ExportedPage, Exports, StoreResult};
use uuid::Uuid;

use super::Engine;
use crate::form::{Executor, Pages, Receiver, Results, Script, Slot};
use crate::tables::exports::PageReads;
use crate::tables::{hash_keys, oauth_providers, settings};

#[crate::measured]
#[async_trait]
impl<E: Executor> Exports for Engine<E> {
    async fn export_accounts(
        &self,
        since: Option<Timestamp>,
        receiver: Box<dyn ExportReceiver>,
    ) -> StoreResult<()> {
        let since = since.unwrap_or(Timestamp::from_millis(i64::MIN));
        let after = Some(UserId::from(Uuid::nil()));
        self.read_pages(AllPages { after, since, reads: Reads::Nothing }, Boxed(receiver)).await
    }
}

/// What there is beside the accounts, and then the pages of all accounts, in the order of their ids.
struct AllPages {
    /// Id before the next page; `None` after the last one.
    after: Option<UserId>,
    since: Timestamp,
    /// Reads of the last page.
    reads: Reads,
}

enum Reads {
    Nothing,
    Instance([Slot; 3]),
    Accounts(PageReads),
}

impl Pages for AllPages {
    type Page = ExportedPage;

    fn next(&mut self) -> Option<Script> {
        let mut script = Script::default();
        self.reads = match self.reads {
            Reads::Nothing => Reads::Instance([
                hash_keys::list(&mut script),
                script.read(&oauth_providers::LIST, Vec::new()),
                script.read(&settings::LIST, Vec::new()),
            ]),
            Reads::Instance(_) | Reads::Accounts(_) => {
                Reads::Accounts(PageReads::add(&mut script, self.after?, self.since))
            }
        };
        Some(script)
    }

    fn read(&mut self, results: &Results<'_>) -> StoreResult<ExportedPage> {
        let accounts = match self.reads {
            Reads::Nothing => Vec::new(),
            Reads::Instance([keys, providers, stored]) => {
                return Ok(ExportedPage::Instance(ExportedInstance {
                    hash_keys: results.list(keys, hash_keys::read)?,
                    providers: results.list(providers, oauth_providers::read_provider)?,
                    settings: settings::settings(results, stored)?,
                }));
            }
            Reads::Accounts(reads) => reads.read(results)?,
        };
        let is_full = accounts.len() == EXPORTED_PAGE as usize;
        self.after = accounts.last().filter(|_| is_full).map(|last| last.user.id);
        Ok(ExportedPage::Accounts(accounts))
    }
}

struct Boxed(Box<dyn ExportReceiver>);

impl Receiver<ExportedPage> for Boxed {
    async fn take(&mut self, page: ExportedPage) -> bool {
        self.0.take(page).await
    }
}
