//! The kernel: what every capability (a module of use cases, such as `sessions`) depends on, such as store,
//! clock and settings, and helpers that many use cases call.

use std::sync::Arc;

use arc_swap::ArcSwap;
use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::identity::ProviderKey;
use latchkey_domain::ids::EventId;
use latchkey_domain::operator::{Party, Protection};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use latchkey_store::Store;
use serde_json::Map;
use url::Url;

use crate::clock::Clock;
use crate::entropy::Entropy;
use crate::metrics::Metrics;
use crate::settings::{EmailSignIn, SettingsInForce};

mod alone;
mod client_limits;
mod id_order;
mod limit_audit;
mod mail_writer;
mod pkce;
mod statistics;

pub(crate) use alone::Alone;
pub(crate) use client_limits::ClientLimits;
pub(crate) use id_order::IdOrder;
pub(crate) use limit_audit::LimitAudit;
pub(crate) use mail_writer::{ActFact, MailPayload, MailWriter};
pub(crate) use pkce::read_challenge;

/// The dependencies that all modules of use cases share. The kernel depends on none of these modules.
pub(crate) struct Kernel {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) settings: ArcSwap<SettingsInForce>,
    pub(crate) limits: ClientLimits,
    pub(crate) limit_audit: LimitAudit,
    pub(crate) mails: MailWriter,
    pub(crate) site: Site,
    pub(crate) operators: OperatorRules,
    pub(crate) ids: IdOrder,
    pub(crate) metrics: Metrics,
    /// The counting of the statistics.
    pub(crate) counting: Alone,
}

/// The rules about operators that the settings state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorRules {
    /// True if the accounts of operators are protected from admin keys.
    pub protect: bool,
    /// True if operators must have two-step sign-in.
    pub require_second_factor: bool,
    /// Keys of the identity providers through which operators sign in.
    pub providers: Vec<ProviderKey>,
}

/// The public URL and name of the service, the prefix of redirect parameters, and the creation of profiles at sign-up.
#[derive(Debug, Clone)]
pub struct Site {
    /// The URL under which clients reach the service. Links in mails and provider callbacks begin with it.
    pub public_url: Url,
    /// The URL under which browsers reach the console of operators.
    pub console_url: Url,
    /// The name of the service in mails. Passwords may not contain it.
    pub service_name: String,
    /// The prefix of the query parameters that the service adds to a redirect target: `service` gives `service_status`.
    pub redirect_param_prefix: String,
    /// True if sign-ups create a profile with the account.
    pub create_profile_on_sign_up: bool,
}

impl Site {
    #[must_use]
    pub fn origin(&self) -> &str {
        self.public_url.as_str().trim_end_matches('/')
    }

    /// Returns the name of a query parameter in a redirect: prefix, underscore, `name`.
    #[must_use]
    pub fn parameter(&self, name: &str) -> String {
        format!("{}_{name}", self.redirect_param_prefix)
    }

    /// Returns the URL of the undo page, for the mail that reports a change of the account. It is built from
    /// the public URL, never from request headers.
    pub(crate) fn undo_link(&self, token: &LinkToken) -> String {
        format!("{}/api/auth/undo?token={}", self.origin(), token.expose())
    }

    /// Returns the URL by which an operator activates the grant.
    pub(crate) fn activation_link(&self, token: &LinkToken) -> String {
        let console = self.console_url.as_str().trim_end_matches('/');
        format!("{console}/console/activate?token={}", token.expose())
    }
}

impl Kernel {
    /// Returns the current time. A use case reads it once and passes it on.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn settings(&self) -> Arc<SettingsInForce> {
        self.settings.load_full()
    }

    /// Returns the setting `auth.email_sign_in`; `Off` if no mail transport is configured.
    pub(crate) fn email_sign_in(&self) -> EmailSignIn {
        if self.mails.has_transport() { self.settings.load().values.email_sign_in } else { EmailSignIn::Off }
    }

    /// Returns what this party's changes of accounts spare.
    pub(crate) fn protection(&self, party: Party) -> Protection {
        party.protection(self.operators.protect)
    }

    /// Returns random bytes for a UUID v7, led by a counter: ids that one instance makes in the same millisecond sort
    /// in the order of creation.
    pub(crate) fn id_bytes(&self, now: Timestamp) -> [u8; 10] {
        self.ids.number(now, self.entropy.bytes())
    }

    /// Builds an audit event without user and session; the store operation that writes the event fills them in.
    pub(crate) fn event(
        &self,
        kind: AuditKind,
        actor: impl Into<Actor>,
        client: Option<&Client>,
        now: Timestamp,
    ) -> AuditEvent {
        AuditEvent {
            id: EventId::new(now, self.id_bytes(now)),
            at: now,
            kind,
            actor: actor.into(),
            user_id: None,
            session_id: None,
            client: client.cloned(),
            details: Map::new(),
        }
    }
}
