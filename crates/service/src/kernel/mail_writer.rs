//! Sealed payloads of mails for the outbox, and security notifications to the owner of an account. The store operation
//! decides whether the owner gets the notification.

use latchkey_domain::client::Client;
use latchkey_domain::ids::MailId;
use latchkey_domain::locale::Locale;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use latchkey_store::NewMail;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::Kernel;
use crate::error::{Error, Result};
use crate::refusal::EMAIL_PROVIDER_NOT_CONFIGURED;
use crate::secrets::{CannotDerive, KeyUse, SealingKey, ServerSecret};

/// The data of a mail in the outbox: codes, links and facts for the template. They are sealed, because codes and links
/// give access to accounts.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct MailPayload {
    /// A code of six digits, or of sixteen characters in groups; `None` in a mail without a code.
    pub(crate) code: Option<String>,
    pub(crate) link: Option<String>,
    /// Lifetime of the code or link, in minutes.
    pub(crate) minutes: u32,
    /// The language of the request that caused the mail; `None` if the request named none. The account's language has
    /// precedence.
    #[serde(default)]
    pub(crate) locale: Option<String>,
    /// Device and address of the client that caused the mail, and what a security notification states
    /// besides. Templates that state none of this ignore it.
    #[serde(default)]
    pub(crate) act: Option<ActPayload>,
}

impl MailPayload {
    /// Creates a payload with the language, device and address of a client; `None` for an admin.
    pub(crate) fn for_client(client: Option<&Client>) -> Self {
        let locale =
            client.and_then(|client| client.locale.as_ref()).map(|locale| locale.as_str().to_owned());
        Self { locale, act: Some(ActPayload::of(client)), ..Self::default() }
    }
}

/// What a mail states about the request that caused it. The time of the request is the creation time of the
/// mail.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct ActPayload {
    /// The names of browser and system of the client; `None` for an admin.
    pub(crate) device: Option<(Option<String>, Option<String>)>,
    /// The network address of the client; `None` for an admin.
    pub(crate) address: Option<String>,
    /// The name of the identity provider that was linked or unlinked; `None` for other changes.
    pub(crate) provider: Option<String>,
    /// The undo link and its expiry in milliseconds since the Unix epoch; `None` for a change that has no undo link.
    #[serde(default)]
    pub(crate) undo: Option<(String, i64)>,
    /// The number of unused recovery codes after one was used; `None` for other changes.
    #[serde(default)]
    pub(crate) codes_left: Option<u32>,
}

impl ActPayload {
    fn of(client: Option<&Client>) -> Self {
        let device = client.map(Client::device);
        Self {
            device: device
                .map(|device| (device.browser.map(str::to_owned), device.system.map(str::to_owned))),
            address: client.map(|client| client.address.to_string()),
            ..Self::default()
        }
    }
}

/// Additional information in a security notification, besides time, device and address of the change.
#[derive(Clone, Copy)]
pub(crate) enum ActFact<'a> {
    /// The name of the identity provider that was linked or unlinked.
    Provider(&'a str),
    /// The token of the link that reverses the change, and its expiry.
    Undo(&'a LinkToken, Timestamp),
    /// The number of unused recovery codes after one was used.
    CodesLeft(u32),
}

/// The key that seals mails, and the signal that wakes the mail worker.
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
        Ok(Self {
            key: secret.sealing_key(KeyUse::Mails)?,
            has_transport,
            notifies_owners,
            written: Notify::new(),
        })
    }

    /// True if a mail transport is configured.
    pub(crate) const fn has_transport(&self) -> bool {
        self.has_transport
    }

    /// Returns an error if no mail transport is configured.
    pub(crate) fn check_transport(&self) -> Result<()> {
        if self.has_transport { Ok(()) } else { Err(Error::Refused(&EMAIL_PROVIDER_NOT_CONFIGURED)) }
    }

    /// Wakes the mail worker.
    pub(crate) fn wake(&self) {
        self.written.notify_one();
    }

    /// Wakes the mail worker after a change that may have written a security notification. Does nothing if
    /// the operator has switched these notifications off.
    pub(crate) fn wake_for_notification(&self) {
        if self.notifies_owners {
            self.wake();
        }
    }

    /// Waits until the worker is woken, because a use case of this instance may have written a mail.
    pub(crate) async fn written(&self) {
        self.written.notified().await;
    }

    /// Decrypts the payload of a mail. The error is a sentence for the operator.
    pub(crate) fn open(&self, id: MailId, sealed: &[u8]) -> Result<MailPayload, String> {
        let plain = self.key.open(id.to_string().as_bytes(), sealed).map_err(|error| error.to_string())?;
        serde_json::from_slice(&plain).map_err(|_| "the mail's content cannot be read".to_owned())
    }
}

impl Kernel {
    /// Creates a mail for the outbox with this payload, and seals the payload.
    pub(crate) fn sealed_mail(&self, payload: &MailPayload, now: Timestamp) -> Result<NewMail> {
        let id = MailId::new(now, self.id_bytes(now));
        Ok(NewMail { id, sealed: self.seal_payload(id, payload)? })
    }

    /// Seals a payload, bound to the id of its mail.
    pub(crate) fn seal_payload(&self, id: MailId, payload: &MailPayload) -> Result<Vec<u8>> {
        let plain = serde_json::to_vec(payload).map_err(Error::internal)?;
        self.mails.key.seal(&*self.entropy, id.to_string().as_bytes(), &plain).map_err(Error::internal)
    }

    /// Builds the security notification about a change by a client, or by an admin if `client` is `None`. Returns
    /// `None` if security notifications are switched off.
    pub(crate) fn notification(
        &self,
        client: Option<&Client>,
        fact: Option<ActFact<'_>>,
        now: Timestamp,
    ) -> Result<Option<NewMail>> {
        if !self.mails.notifies_owners {
            return Ok(None);
        }
        self.required_notification(client, fact, now)
    }

    /// Builds a security notification that no setting switches off: those about second factors. Returns `None` only if
    /// no mail transport is configured.
    pub(crate) fn required_notification(
        &self,
        client: Option<&Client>,
        fact: Option<ActFact<'_>>,
        now: Timestamp,
    ) -> Result<Option<NewMail>> {
        if !self.mails.has_transport {
            return Ok(None);
        }
        let mut act = ActPayload::of(client);
        match fact {
            Some(ActFact::Provider(name)) => act.provider = Some(name.to_owned()),
            Some(ActFact::Undo(token, until)) => {
                act.undo = Some((self.site.undo_link(token), until.as_millis()));
            }
            Some(ActFact::CodesLeft(left)) => act.codes_left = Some(left),
            None => {}
        }
        self.sealed_mail(&MailPayload { act: Some(act), ..MailPayload::for_client(client) }, now).map(Some)
    }

    /// Builds the notification that an account is deleted. When it is sent, there is no account any more, so it contains
    /// the account's language `stored`, which has precedence over that of the request.
    pub(crate) fn notification_of_deletion(
        &self,
        client: Option<&Client>,
        stored: Option<Locale>,
        now: Timestamp,
    ) -> Result<Option<NewMail>> {
        if !self.mails.has_transport {
            return Ok(None);
        }
        let asked = client.and_then(|client| client.locale.clone());
        let locale = stored.or(asked).map(|locale| locale.as_str().to_owned());
        let act = Some(ActPayload::of(client));
        self.sealed_mail(&MailPayload { locale, act, ..MailPayload::default() }, now).map(Some)
    }
}
