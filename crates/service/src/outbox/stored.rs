//! The mails in the outbox, for an admin: their list, and another try for those that died.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::client::Client;
use latchkey_domain::ids::MailId;
use latchkey_domain::operator::Party;
use latchkey_domain::time::Timestamp;
use latchkey_store::{ListMails, ListedMail, MailKey, MailPage, MailState, RetryMail, StoredMail};
use serde_json::Value;

use super::Outbox;
use crate::error::{Error, Result};
use crate::kernel::MailPayload;
use crate::refusal::{
    MAIL_EXPIRED, MAIL_NOT_DEAD, MAIL_REPLACED, MAIL_UNKNOWN, MAIL_UNREADABLE, MAIL_WAS_SENT, Refusal,
};

/// Number of dead mails that are read at a time to try all again.
const BATCH: u32 = 100;

/// The outcome of another try for all dead mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retried {
    /// Number of mails that are queued again.
    pub queued: u64,
    /// Number of mails that stay dead, because their code or link works no more or their content cannot be read.
    pub left: u64,
}

impl Outbox {
    /// Lists the mails in the outbox, without their content.
    pub async fn list(&self, list: &ListMails) -> Result<MailPage> {
        Ok(self.kernel.store.list_mails(list).await?)
    }

    /// Queues a dead mail again and returns it. A mail is refused if its code or link has expired, was used or was replaced
    /// meanwhile, because it would be of no use to its recipient.
    pub async fn retry(&self, id: MailId, party: Party, client: Option<&Client>) -> Result<ListedMail> {
        let now = self.kernel.now();
        let found = self.find(id).await?;
        if let Some(refusal) = self.obstacle(&found, now) {
            return Err(Error::Refused(refusal));
        }
        let retry = self.retry_of(&found.mail, party, client, now);
        if self.kernel.store.retry_mails(vec![retry], now).await? == 0 {
            return Err(Error::Refused(&MAIL_NOT_DEAD)); // queued by another request meanwhile
        }
        self.kernel.mails.wake();
        Ok(self.find(id).await?.mail)
    }

    /// Queues all dead mails again but those that [`Self::retry`] refuses.
    pub async fn retry_all(&self, party: Party, client: Option<&Client>) -> Result<Retried> {
        let (now, mut after, mut retried) = (self.kernel.now(), None, Retried::default());
        loop {
            let dead = self.kernel.store.list_dead_mails(after, BATCH).await?;
            let Some(last) = dead.last() else { break };
            after = Some(MailKey { created_at: last.mail.created_at, id: last.mail.id });
            let read = dead.len() as u64;
            let good = dead.iter().filter(|found| self.obstacle(found, now).is_none());
            let again: Vec<_> = good.map(|found| self.retry_of(&found.mail, party, client, now)).collect();
            retried.left += read - again.len() as u64;
            if !again.is_empty() {
                retried.queued += self.kernel.store.retry_mails(again, now).await?;
            }
        }
        self.kernel.mails.wake();
        Ok(retried)
    }

    async fn find(&self, id: MailId) -> Result<StoredMail> {
        self.kernel.store.find_mail(id).await?.ok_or(Error::Refused(&MAIL_UNKNOWN))
    }

    /// Returns the reason why a mail cannot be queued again; `None` if there is none.
    fn obstacle(&self, found: &StoredMail, now: Timestamp) -> Option<&'static Refusal> {
        let mail = &found.mail;
        match (mail.state, &found.sealed) {
            (MailState::Sent, _) => Some(&MAIL_WAS_SENT),
            (MailState::Dead, Some(sealed)) => match self.kernel.mails.open(mail.id, sealed) {
                Ok(payload) if has_expired(&payload, mail.created_at, now) => Some(&MAIL_EXPIRED),
                // Of an address without an account, the row of the code is not known.
                Ok(payload)
                    if has_secret(&payload) && !found.has_live_secret && found.mail.user_id.is_some() =>
                {
                    Some(&MAIL_REPLACED)
                }
                Ok(_) => None,
                Err(_) => Some(&MAIL_UNREADABLE),
            },
            (MailState::Dead, None) => Some(&MAIL_UNREADABLE),
            (MailState::Queued | MailState::Decoy, _) => Some(&MAIL_NOT_DEAD),
        }
    }

    fn retry_of(
        &self,
        mail: &ListedMail,
        party: Party,
        client: Option<&Client>,
        now: Timestamp,
    ) -> RetryMail {
        let mut event = self.kernel.event(AuditKind::MailRetried, party, client, now);
        event.details.insert("mail".to_owned(), Value::from(mail.id.to_string()));
        event.details.insert("kind".to_owned(), Value::from(mail.kind.as_str()));
        RetryMail { id: mail.id, event }
    }
}

/// True if the code or link in a mail is no longer valid.
fn has_expired(payload: &MailPayload, created_at: Timestamp, now: Timestamp) -> bool {
    let lifetime = std::time::Duration::from_mins(payload.minutes.into());
    has_secret(payload) && created_at.plus(lifetime) <= now
}

const fn has_secret(payload: &MailPayload) -> bool {
    payload.code.is_some() || payload.link.is_some()
}
