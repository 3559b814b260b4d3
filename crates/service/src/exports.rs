//! The export of the whole instance as JSON lines, which an import reads. The forms of the lines are in [`record`].

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use aws_lc_rs::digest::{Context, SHA256};
use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::limits::Rate;
use latchkey_domain::operator::Party;
use latchkey_domain::time::Timestamp;
use latchkey_settings::settings;
use latchkey_store::{ExportReceiver, ExportedAccount, ExportedInstance, ExportedPage, HashKey};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::factors::Factors;
use crate::kernel::Kernel;
use crate::passwords::Passwords;
use record::Line;

mod record;

const LIMIT: &str = "export of the instance, per address";

settings! {
    /// The rate limit of exports of the instance.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Limits {
        /// The limit on exports of all accounts from one client address.
        "limits.instance_exports_per_address" => export: Rate = "4/1h";
    }
}

/// What an export has of the secrets of accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// No secret.
    Left,
    /// Password hashes, TOTP secrets and passkeys: enough to move all accounts to another instance.
    Included,
}

/// What is exported.
#[derive(Debug, Clone, Copy)]
pub struct ExportRequest {
    pub secrets: Secrets,
    /// Only accounts that were created or changed at this time or later; `None` for all.
    pub since: Option<Timestamp>,
}

/// Receiver of the lines of an export.
#[async_trait]
pub trait Lines: Send {
    /// Takes whole lines. Returns false if no more are wanted.
    async fn take(&mut self, lines: Vec<u8>) -> bool;
}

pub struct Exports {
    kernel: Arc<Kernel>,
    passwords: Arc<Passwords>,
    factors: Arc<Factors>,
    limits: Limits,
}

impl Exports {
    pub(crate) const fn new(
        kernel: Arc<Kernel>,
        passwords: Arc<Passwords>,
        factors: Arc<Factors>,
        limits: Limits,
    ) -> Self {
        Self { kernel, passwords, factors, limits }
    }

    /// Takes a token from the rate limit, and writes the audit event. `client` is `None` for the machine itself.
    pub async fn begin(&self, request: &ExportRequest, party: Party, client: Option<&Client>) -> Result<()> {
        let (kernel, now) = (&self.kernel, self.kernel.now());
        if let Some(client) = client {
            let takes = kernel.limits.by_address(LIMIT, self.limits.export, client);
            kernel.store.take(&takes, now).await?.map_err(Error::from)?;
        }
        let mut event = kernel.event(AuditKind::InstanceExported, Actor::from(party), client, now);
        let secrets = Value::from(request.secrets == Secrets::Included);
        event.details.insert("secrets".to_owned(), secrets);
        Ok(kernel.store.record_event(AuditEvent { user_id: None, ..event }).await?)
    }

    /// Writes the export: a head, the keys of hashes, all accounts of one snapshot, identity providers and settings
    /// without secrets, and the end, which has the number of accounts and the SHA-256 of all lines before it.
    pub async fn write(self: Arc<Self>, request: ExportRequest, lines: Box<dyn Lines>) -> Result<u64> {
        let secrets = request.secrets;
        let state = State { lines, digest: Context::new(&SHA256), users: 0, rest: Vec::new() };
        let state = Arc::new(tokio::sync::Mutex::new(state));
        let exported_at = self.kernel.now();
        let head = Line::Head { format: 1, version: env!("CARGO_PKG_VERSION"), exported_at, secrets };
        state.lock().await.write(&[head]).await?;
        let failure = Arc::default();
        let receiver = Receiver {
            exports: self.clone(),
            state: Arc::clone(&state),
            secrets,
            failure: Arc::clone(&failure),
        };
        self.kernel.store.export_accounts(request.since, Box::new(receiver)).await?;
        if let Some(error) = failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        let mut state = state.lock().await;
        let rest = std::mem::take(&mut state.rest);
        state.write(&rest).await?;
        state.end().await
    }

    fn key_lines(&self, keys: &[HashKey], secrets: Secrets) -> Result<Vec<Line>> {
        let keys = keys.iter().filter(|_| secrets == Secrets::Included);
        keys.map(|key| Ok(Line::hash_key(key.id, &self.passwords.open_hash_key(key)?))).collect()
    }

    fn lines_of(&self, accounts: Vec<ExportedAccount>, secrets: Secrets) -> Result<Vec<Line>> {
        let reveal = |account: &ExportedAccount| {
            let totp = account.totp.iter().filter(|_| secrets == Secrets::Included);
            totp.map(|factor| {
                let secret = self.factors.reveal(account.user.id, factor.id, &factor.sealed)?;
                Ok((secret, factor.name.clone()))
            })
            .collect::<Result<Vec<_>>>()
        };
        accounts.into_iter().map(|account| Ok(Line::user(reveal(&account)?, account, secrets))).collect()
    }
}

/// What is written, and what the end states of it.
struct State {
    lines: Box<dyn Lines>,
    digest: Context,
    users: u64,
    /// Lines after the accounts.
    rest: Vec<Line>,
}

impl State {
    async fn write(&mut self, lines: &[Line]) -> Result<()> {
        let mut chunk = Vec::new();
        for line in lines {
            line.append_to(&mut chunk)?;
        }
        self.digest.update(&chunk);
        self.send(chunk).await
    }

    async fn end(&mut self) -> Result<u64> {
        let sha256 = hex::encode(self.digest.clone().finish());
        let mut chunk = Vec::new();
        Line::End { users: self.users, sha256 }.append_to(&mut chunk)?;
        self.send(chunk).await?;
        Ok(self.users)
    }

    async fn send(&mut self, chunk: Vec<u8>) -> Result<()> {
        if chunk.is_empty() || self.lines.take(chunk).await {
            return Ok(());
        }
        Err(Error::internal("the reader of an export went away"))
    }
}

/// Receiver of the pages of accounts.
struct Receiver {
    exports: Arc<Exports>,
    state: Arc<tokio::sync::Mutex<State>>,
    secrets: Secrets,
    failure: Arc<Mutex<Option<Error>>>,
}

impl Receiver {
    /// Keeps the failure. Returns false if there is one, so that no further page is read.
    fn goes_on(&self, written: Result<()>) -> bool {
        let failed = written.err();
        let is_wanted = failed.is_none();
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failed;
        is_wanted
    }
}

impl Receiver {
    async fn write_instance(&self, instance: ExportedInstance) -> Result<()> {
        let ExportedInstance { hash_keys, providers, settings } = instance;
        let lines = self.exports.key_lines(&hash_keys, self.secrets)?;
        let mut state = self.state.lock().await;
        state.rest = providers.into_iter().map(Line::provider).chain([Line::settings(settings)]).collect();
        state.write(&lines).await
    }

    async fn write_accounts(&self, accounts: Vec<ExportedAccount>) -> Result<()> {
        let users = accounts.len() as u64;
        let lines = self.exports.lines_of(accounts, self.secrets)?;
        let mut state = self.state.lock().await;
        state.users += users;
        state.write(&lines).await
    }
}

#[async_trait]
impl ExportReceiver for Receiver {
    async fn take(&mut self, page: ExportedPage) -> bool {
        let written = match page {
            ExportedPage::Instance(instance) => self.write_instance(instance).await,
            ExportedPage::Accounts(accounts) => self.write_accounts(accounts).await,
        };
        self.goes_on(written)
    }
}
