//! The kernel: the parts that every room uses, and the small acts that many use cases share.

use std::sync::Arc;

use arc_swap::ArcSwap;
use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::ids::EventId;
use latchkey_domain::time::Timestamp;
use latchkey_store::Store;
use serde_json::Map;
use url::Url;

use crate::clock::Clock;
use crate::entropy::Entropy;
use crate::settings::SettingsInForce;

mod client_limits;
mod id_order;
mod limit_audit;
mod mail_writer;

pub(crate) use client_limits::ClientLimits;
pub(crate) use id_order::IdOrder;
pub(crate) use limit_audit::LimitAudit;
pub(crate) use mail_writer::{MailPayload, MailWriter};

/// The kernel. Rooms share it; it knows none of them.
pub(crate) struct Kernel {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) settings: ArcSwap<SettingsInForce>,
    pub(crate) limits: ClientLimits,
    pub(crate) limit_audit: LimitAudit,
    pub(crate) mails: MailWriter,
    pub(crate) site: Site,
    pub(crate) ids: IdOrder,
}

/// The public face of the service.
#[derive(Debug, Clone)]
pub struct Site {
    /// The origin under which clients reach it.
    pub public_url: Url,
    /// Its name in mails and in the password rule.
    pub service_name: String,
    /// The prefix of the browser redirect parameters.
    pub redirect_param_prefix: String,
    /// Sign-ups create a profile.
    pub create_profile_on_sign_up: bool,
}

impl Site {
    /// The public URL without a trailing slash.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.public_url.as_str().trim_end_matches('/')
    }

    /// A browser redirect parameter: the prefix and a name.
    pub(crate) fn parameter(&self, name: &str) -> String {
        format!("{}_{name}", self.redirect_param_prefix)
    }
}

impl Kernel {
    /// The time. A use case reads it once.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The settings in force.
    pub(crate) fn settings(&self) -> Arc<SettingsInForce> {
        self.settings.load_full()
    }

    /// Random bytes for an id. Ids of one millisecond sort in the order of their creation.
    pub(crate) fn id_bytes(&self, now: Timestamp) -> [u8; 10] {
        self.ids.number(now, self.entropy.bytes())
    }

    /// An audit event; the store fills in what only it finds.
    pub(crate) fn event(
        &self,
        kind: AuditKind,
        actor: Actor,
        client: Option<&Client>,
        now: Timestamp,
    ) -> AuditEvent {
        AuditEvent {
            id: EventId::new(now, self.id_bytes(now)),
            at: now,
            kind,
            actor,
            user_id: None,
            session_id: None,
            client: client.cloned(),
            details: Map::new(),
        }
    }
}
