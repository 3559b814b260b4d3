//! Writing mails into the outbox: their sealed payload, and security notifications to the owner of an account. The store
//! decides whether the owner may get them.

use latchkey_domain::client::Client;
use latchkey_domain::ids::MailId;
use latchkey_domain::time::Timestamp;
use latchkey_store::NewMail;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::Kernel;
use crate::error::{Error, Result};
use crate::refusal::EMAIL_PROVIDER_NOT_CONFIGURED;
use crate::secrets::{CannotDerive, SealingKey, ServerSecret};

/// The payload of a mail. It is sealed in the outbox, because it opens accounts.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct MailPayload {
    /// Six digits, or sixteen characters in groups.
    pub(crate) code: Option<String>,
    /// A link.
    pub(crate) link: Option<String>,
    /// Lifetime of the code or link, in minutes.
    pub(crate) minutes: u32,
    /// The act that a security notification tells of.
    #[serde(default)]
    pub(crate) act: Option<ActPayload>,
}

/// An act on an account, as its security notification tells it. Its time is the mail's.
#[derive(Serialize, Deserialize)]
pub(crate) struct ActPayload {
    /// The device; `None` for an administrator.
    pub(crate) device: Option<String>,
    /// The network address; `None` for an administrator.
    pub(crate) address: Option<String>,
    /// The name of the identity provider that it is about.
    pub(crate) provider: Option<String>,
}

/// The writing half of the outbox.
pub(crate) struct MailWriter {
    key: SealingKey,
    has_transport: bool,
    notifies_owners: bool,
    written: Notify,
}

impl MailWriter {
    pub(crate) fn new(
        secret: &ServerSecret,
        has_transport: bool,
        notifies_owners: bool,
    ) -> Result<Self, CannotDerive> {
        Ok(Self { key: secret.sealing_key("mails")?, has_transport, notifies_owners, written: Notify::new() })
    }

    /// Refuses if no mail transport is configured.
    pub(crate) fn check_transport(&self) -> Result<()> {
        if self.has_transport { Ok(()) } else { Err(Error::Refused(&EMAIL_PROVIDER_NOT_CONFIGURED)) }
    }

    /// Wakes the outbox worker.
    pub(crate) fn wake(&self) {
        self.written.notify_one();
    }

    /// Wakes the outbox worker after an act that may have written a security notification.
    pub(crate) fn wake_for_notification(&self) {
        if self.notifies_owners {
            self.wake();
        }
    }

    /// Waits until this instance wrote a mail.
    pub(crate) async fn written(&self) {
        self.written.notified().await;
    }

    /// Opens the payload of a mail; the error is a sentence for the operator.
    pub(crate) fn open(&self, id: MailId, sealed: &[u8]) -> Result<MailPayload, String> {
        let plain = self.key.open(id.to_string().as_bytes(), sealed).map_err(|error| error.to_string())?;
        serde_json::from_slice(&plain).map_err(|_| "the mail's content cannot be read".to_owned())
    }
}

impl Kernel {
    /// A mail with this payload.
    pub(crate) fn sealed_mail(&self, payload: &MailPayload, now: Timestamp) -> Result<NewMail> {
        let id = MailId::new(now, self.id_bytes(now));
        Ok(NewMail { id, sealed: self.seal_payload(id, payload)? })
    }

    /// Seals a payload, bound to the mail's id.
    pub(crate) fn seal_payload(&self, id: MailId, payload: &MailPayload) -> Result<Vec<u8>> {
        let plain = serde_json::to_vec(payload).map_err(Error::internal)?;
        self.mails.key.seal(&*self.entropy, id.to_string().as_bytes(), &plain).map_err(Error::internal)
    }

    /// The security notification about an act of a client, or of an administrator (`None`), on an identity of the named
    /// provider; `None` if such mails are switched off.
    pub(crate) fn notification(
        &self,
        client: Option<&Client>,
        provider: Option<&str>,
        now: Timestamp,
    ) -> Result<Option<NewMail>> {
        if !self.mails.notifies_owners || !self.mails.has_transport {
            return Ok(None);
        }
        let act = ActPayload {
            device: client.map(Client::device),
            address: client.map(|client| client.address.to_string()),
            provider: provider.map(str::to_owned),
        };
        self.sealed_mail(&MailPayload { act: Some(act), ..MailPayload::default() }, now).map(Some)
    }
}
