//! Mails that tell the owner of an account what was done with it. The store decides whether the owner may get them.

use latchkey_domain::client::Client;
use latchkey_domain::identity::ProviderKey;
use latchkey_domain::time::Timestamp;
use latchkey_store::NewMail;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::proof::MailPayload;
use crate::service::Service;

/// An act on an account, as its mail tells it. When it happened is when the mail was written.
#[derive(Serialize, Deserialize)]
pub(crate) struct ActPayload {
    /// The device; `None` where an administrator did it.
    pub(crate) device: Option<String>,
    /// The network address; `None` where an administrator did it.
    pub(crate) address: Option<String>,
    /// The name of the identity provider that it is about.
    pub(crate) provider: Option<String>,
}

impl Service {
    /// The mail about an act of a client; `None` where such mails are not wanted.
    pub(crate) fn notice(&self, client: &Client, now: Timestamp) -> Result<Option<NewMail>> {
        self.notice_of(Some(client), None, now)
    }

    /// The mail about an act on an identity of this provider.
    pub(crate) fn identity_notice(
        &self,
        client: &Client,
        provider: &ProviderKey,
        now: Timestamp,
    ) -> Result<Option<NewMail>> {
        self.notice_of(Some(client), Some(provider), now)
    }

    /// The mail about an act of an administrator, whose address is nobody's business.
    pub(crate) fn admin_notice(&self, now: Timestamp) -> Result<Option<NewMail>> {
        self.notice_of(None, None, now)
    }

    fn notice_of(
        &self,
        client: Option<&Client>,
        provider: Option<&ProviderKey>,
        now: Timestamp,
    ) -> Result<Option<NewMail>> {
        if !self.config.notifies_owners || !self.config.has_mail_transport {
            return Ok(None);
        }
        let act = ActPayload {
            device: client.map(Client::device),
            address: client.map(|client| client.address.to_string()),
            provider: provider.map(|key| self.provider_name(key)),
        };
        let payload = MailPayload { code: None, link: None, minutes: 0, act: Some(act) };
        self.sealed_mail(&payload, now).map(Some)
    }

    /// The name that people know a provider by; its key where it is configured no more.
    fn provider_name(&self, key: &ProviderKey) -> String {
        let providers = self.providers.load();
        providers.find(key).map_or(key.as_str(), |known| known.name()).to_owned()
    }
}
