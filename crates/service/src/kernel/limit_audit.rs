//! Audit events of requests that rate limits refused. Refusals are collected in memory, and the upkeep worker writes
//! them every minute. Only then is the account of an address looked up, so that the response time does not reveal
//! whether the address has an account.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::email::EmailKey;
use latchkey_domain::limits::{LimitKey, Limited, Rate, Take};
use latchkey_domain::time::Timestamp;
use serde_json::Value;

use super::Kernel;
use crate::error::{Error, Result};

/// Maximum number of refusals in memory. Further ones are dropped and get no audit event.
const WAITING: usize = 1_000;
/// At most one audit event per account and rate limit in an hour.
const ONE_AN_HOUR: Rate = Rate { burst: 1, window: Duration::from_hours(1) };

/// Refusals to be audited: the first of each address and rate limit since the last write.
#[derive(Default)]
pub(crate) struct LimitAudit(Mutex<HashMap<(EmailKey, &'static str), Refusal>>);

struct Refusal {
    client: Client,
    at: Timestamp,
}

impl Kernel {
    /// Collects a request that a rate limit refused, for the audit log, and converts the refusal into the error to
    /// return. `email` is the address in the request; it may have no account.
    pub(crate) fn limited(&self, limited: Limited, email: &EmailKey, client: &Client) -> Error {
        let mut waiting = self.limit_audit.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < WAITING {
            let refusal = || Refusal { client: client.clone(), at: self.clock.now() };
            waiting.entry((email.clone(), limited.limit)).or_insert_with(refusal);
        }
        limited.into()
    }

    /// Writes an audit event for each collected refusal whose address has an account. After a database error, refusals
    /// that are not written yet are lost.
    pub(crate) async fn record_refusals(&self) -> Result<()> {
        let waiting = std::mem::take(&mut *self.limit_audit.0.lock().unwrap_or_else(PoisonError::into_inner));
        for ((email, limit), refusal) in waiting {
            self.record_refusal(&email, limit, &refusal).await?;
        }
        Ok(())
    }

    async fn record_refusal(&self, email: &EmailKey, limit: &'static str, refusal: &Refusal) -> Result<()> {
        let Some(user) = self.store.find_user_by_email(email).await? else { return Ok(()) };
        let key = LimitKey::new("audit of a limit", &[limit, &user.id.to_string()]);
        if self.store.take(&[Take { key, rate: ONE_AN_HOUR, limit }], refusal.at).await?.is_err() {
            return Ok(());
        }
        let event = self.event(AuditKind::RequestLimited, Actor::User, Some(&refusal.client), refusal.at);
        let mut event = AuditEvent { user_id: Some(user.id), ..event };
        event.details.insert("limit".to_owned(), Value::from(limit));
        Ok(self.store.record_event(event).await?)
    }
}
