//! Delivery of mails from the outbox: claims due mails with a lease, renders and sends them outside any transaction,
//! and stores the outcome.

use std::time::Duration;

use latchkey_domain::device::Device;
use latchkey_domain::ids::{LeaseId, MailId};
use latchkey_domain::locale::Locale;
use latchkey_domain::mail_kind::MailKind;
use latchkey_domain::time::Timestamp;
use latchkey_mail::{
    MailContext, Message, MessageId, SecurityEvent, SendError, Template, Transport, UndoLink,
};
use latchkey_store::{ClaimedMail, Lease, MailFate, StoreError, StoreResult};
use tracing::Instrument;

use super::Outbox;
use crate::error::{Error, Result};
use crate::kernel::MailPayload;

/// Maximum number of mails per claim. They are sent concurrently, so that one lease is long enough for all.
const CLAIM: u32 = 8;

/// Pause between two attempts to store the outcome of a mail.
const SETTLE_PAUSE: Duration = Duration::from_millis(500);
const SETTLE_TRIES: u32 = 30;

/// The number of mails per outcome of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Delivered {
    pub sent: usize,
    /// Mails that failed and will be retried.
    pub retried: usize,
    /// Mails that will not be retried.
    pub dead: usize,
}

impl Outbox {
    /// Sends due mails until none is due. It claims a few mails at a time (`CLAIM`).
    pub async fn deliver_due(&self) -> Result<Delivered> {
        let mut delivered = Delivered::default();
        let Some(transport) = &self.mailer.transport else { return Ok(delivered) };
        loop {
            let now = self.kernel.now();
            let lease = Lease {
                id: LeaseId::new(now, self.kernel.id_bytes(now)),
                until: now.plus(self.retries.lease),
            };
            let schedule = self.retries.schedule();
            let claimed = self.kernel.store.claim_mails(lease, &schedule, CLAIM, now).await?;
            if claimed.is_empty() {
                return Ok(delivered);
            }
            for fate in self.deliver_all(claimed, lease.id, transport).await? {
                match fate {
                    MailFate::Sent => delivered.sent += 1,
                    MailFate::RetryAt { .. } => delivered.retried += 1,
                    MailFate::Dead { .. } => delivered.dead += 1,
                }
            }
        }
    }

    pub async fn mail_written(&self) {
        self.kernel.mails.written().await;
    }

    /// Returns the time until the next mail in the outbox is due; `None` if no mail waits.
    pub async fn next_due_in(&self) -> Result<Option<Duration>> {
        let due = self.kernel.store.next_mail_due().await?;
        Ok(due.map(|due| due.since(self.kernel.now())))
    }

    /// Closes the SMTP connections that the mail transport keeps open between mails.
    pub async fn rest_transport(&self) {
        if let Some(transport) = &self.mailer.transport {
            transport.close_idle().await;
        }
    }

    async fn deliver_all(
        &self,
        claimed: Vec<ClaimedMail>,
        lease: LeaseId,
        transport: &Transport,
    ) -> Result<Vec<MailFate>> {
        // Three quarters of the lease are for sending, the rest for storing the outcome.
        let longest = self.retries.lease.mul_f64(0.75);
        let sends = claimed.into_iter().map(|mail| self.deliver(mail, lease, transport, longest));
        let settled = futures_util::future::join_all(sends).await;
        settled.into_iter().map(|fate| fate.map_err(Error::from)).collect()
    }

    /// Sends a mail and stores its outcome.
    async fn deliver(
        &self,
        mail: ClaimedMail,
        lease: LeaseId,
        transport: &Transport,
        longest: Duration,
    ) -> StoreResult<MailFate> {
        let span = tracing::info_span!(target: "traces", "deliver", kind = mail.kind.as_str());
        let delivering = async {
            let outcome = match self.render(&mail) {
                Ok(message) => send(transport, &message, longest).await,
                Err(error) => Err(error),
            };
            let now = self.kernel.now();
            let fate = self.fate(outcome, mail.attempts, now);
            log(&mail, &fate);
            self.kernel.metrics.mail(mail.kind, &fate);
            tracing::info!(target: "traces", is_error = !matches!(fate, MailFate::Sent));
            self.settle(mail.id, lease, &fate, now).await.map(|()| fate)
        };
        delivering.instrument(span).await
    }

    /// Stores the outcome of a mail. A mail that was sent but not marked as sent would be sent again after its lease,
    /// so storing is retried while the database is unavailable and the lease lasts.
    async fn settle(&self, id: MailId, lease: LeaseId, fate: &MailFate, now: Timestamp) -> StoreResult<()> {
        let until = now.plus(self.retries.lease.mul_f64(0.25));
        let mut tries = 1;
        loop {
            match self.kernel.store.settle_mail(id, lease, fate.clone(), now).await {
                Err(StoreError::Unavailable(_)) if tries < SETTLE_TRIES && self.kernel.now() < until => {
                    tries += 1;
                    tokio::time::sleep(SETTLE_PAUSE).await;
                }
                outcome => return outcome.map(|_| ()),
            }
        }
    }

    fn render(&self, mail: &ClaimedMail) -> Result<Message, SendError> {
        let id = mail.id.to_string();
        let broken = |what: &str| SendError::Permanent(what.to_owned());
        let payload: MailPayload =
            self.kernel.mails.open(mail.id, &mail.sealed).map_err(SendError::Permanent)?;
        let asked = payload.locale.map(Locale::from_stored);
        let settings = self.kernel.settings.load();
        let own = mail.recipient.locale.as_ref().or(asked.as_ref());
        let wanted: Vec<&Locale> = own.into_iter().chain([&settings.default_locale]).collect();
        let template = Template::of(mail.kind, payload.code.is_some());
        // Mails of a change of address may go to a mailbox that no one has proven to be the account's, so they do not
        // name the user.
        let name = mail.recipient.name.as_ref().filter(|_| mail.kind != MailKind::EmailChange);
        let act = payload.act.unwrap_or_default(); // an earlier release wrote none for some kinds
        let context = MailContext {
            service_name: self.kernel.site.service_name.clone(),
            public_url: self.kernel.site.origin().to_owned(),
            recipient_name: name.map(|name| name.as_str().to_owned()),
            code: payload.code,
            link: payload.link,
            expires_in_minutes: payload.minutes,
            contested: mail.recipient.is_contested,
            event: SecurityEvent {
                at: mail.created_at,
                device: act
                    .device
                    .map(|(browser, system)| Device::from_names(browser.as_deref(), system.as_deref())),
                address: act.address,
                provider: act.provider,
                undo: act.undo.map(|(link, until)| UndoLink { link, until: Timestamp::from_millis(until) }),
                codes_left: act.codes_left,
            },
            entered: mail.recipient.is_entered,
            takes_over: mail.recipient.may_be_hijacked,
        };
        let rendered = self
            .mailer
            .templates
            .render(template, &wanted, &context)
            .map_err(|_| broken("the template failed"))?;
        Ok(Message {
            message_id: MessageId::parse(&id).map_err(|_| broken("the mail's id cannot be used"))?,
            from: self.sender.clone(),
            to: mail.recipient.email.deliverable(),
            subject: rendered.subject,
            text: rendered.text,
            html: rendered.html,
            date: mail.created_at,
        })
    }

    fn fate(&self, outcome: Result<(), SendError>, attempts: u32, now: Timestamp) -> MailFate {
        match outcome {
            Ok(()) => MailFate::Sent,
            Err(SendError::Permanent(error)) => MailFate::Dead { error },
            Err(SendError::Transient(error)) if attempts + 1 >= self.retries.attempts => {
                MailFate::Dead { error }
            }
            Err(SendError::Transient(error)) => {
                let schedule = self.retries.schedule();
                MailFate::RetryAt {
                    at: now.plus(schedule.backoff(attempts, self.kernel.entropy.fraction())),
                    error,
                }
            }
        }
    }
}

async fn send(transport: &Transport, message: &Message, longest: Duration) -> Result<(), SendError> {
    let timeout = SendError::Transient("the transport took too long".to_owned());
    tokio::time::timeout(longest, transport.send(message)).await.unwrap_or(Err(timeout))
}

fn log(mail: &ClaimedMail, fate: &MailFate) {
    let (id, kind) = (mail.id, mail.kind.as_str());
    match fate {
        MailFate::Sent => tracing::info!(%id, kind, "mail sent"),
        MailFate::RetryAt { at, error } => {
            tracing::warn!(%id, kind, %error, next = %at, "mail not sent, will retry");
        }
        MailFate::Dead { error } => tracing::error!(%id, kind, %error, "mail dead: no further attempts"),
    }
}
