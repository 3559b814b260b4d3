//! The service itself: what it is made of, how it starts, and the small acts that many verbs share.

use std::sync::{Arc, Mutex as StdMutex};

use arc_swap::ArcSwap;
use latchkey_domain::audit::{Actor, AuditEvent, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::clock_watch::ClockWatch;
use latchkey_domain::ids::{EventId, SessionId};
use latchkey_domain::session::{AuthMethod, NewSession, Session};
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::RefreshToken;
use latchkey_domain::user::User;
use latchkey_mail::{Templates, Transport};
use latchkey_oauth::{InvalidOutbound, ProviderClient};
use latchkey_store::{Store, StoreError};
use serde_json::Map;
use tokio::sync::{Mutex, Notify};

use crate::access_tokens::{AccessToken, TokenNames};
use crate::clock::Clock;
use crate::config::ServiceConfig;
use crate::entropy::Entropy;
use crate::error::{Error, Result};
use crate::id_order::IdOrder;
use crate::limits::Limits;
use crate::oauth::providers::{OAuthParts, Providers};
use crate::passwords::{HashingError, Passwords};
use crate::readiness::Readiness;
use crate::refusals::Refusals;
use crate::search::ProfileSearch;
use crate::secrets::{CannotDerive, Keys, ServerSecret};
use crate::settings::{BaseSettings, SettingsInForce};
use crate::signing_keys::{KeySet, new_signing_key};

/// What renders and sends mails.
pub struct Mailer {
    /// What mails say.
    pub templates: Templates,
    /// How they leave; `None` keeps them in the outbox.
    pub transport: Option<Transport>,
}

/// What a service is made of.
pub struct ServiceParts {
    /// What it is told once.
    pub config: ServiceConfig,
    /// What file, environment and command line say of the editable settings.
    pub base_settings: BaseSettings,
    /// Where it keeps everything.
    pub store: Arc<dyn Store>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
    /// The secret of this service.
    pub secret: ServerSecret,
    /// Mails.
    pub mailer: Mailer,
    /// Identity providers.
    pub oauth: OAuthParts,
}

/// Why a service does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The storage did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The hashing threads.
    #[error(transparent)]
    Hashing(#[from] HashingError),
    /// The keys.
    #[error(transparent)]
    Keys(#[from] CannotDerive),
    /// How identity providers are talked to.
    #[error(transparent)]
    Outbound(#[from] InvalidOutbound),
    /// Settings, signing keys or identity providers that do not fit.
    #[error("{0}: {reason}", reason = crate::service::reason(.0))]
    Service(#[from] Error),
}

/// The service.
pub struct Service {
    pub(crate) config: ServiceConfig,
    pub(crate) base_settings: BaseSettings,
    pub(crate) settings: ArcSwap<SettingsInForce>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) clock_watch: StdMutex<ClockWatch>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) keys: Keys,
    pub(crate) signing: ArcSwap<KeySet>,
    pub(crate) names: TokenNames,
    pub(crate) passwords: Passwords,
    pub(crate) limits: Limits,
    pub(crate) refusals: Refusals,
    pub(crate) mailer: Mailer,
    pub(crate) mail_written: Notify,
    pub(crate) reloading: Mutex<()>,
    pub(crate) oauth_parts: OAuthParts,
    pub(crate) providers: ArcSwap<Providers>,
    pub(crate) provider_client: ProviderClient,
    pub(crate) search: ProfileSearch,
    pub(crate) readiness: Readiness,
    id_order: IdOrder,
}

/// A session that was just opened or refreshed, with its tokens.
pub struct SignedIn {
    /// The user.
    pub user: User,
    /// The access token.
    pub access: AccessToken,
    /// The refresh token.
    pub refresh: RefreshToken,
    /// The CSRF token of the session.
    pub csrf_token: String,
    /// When the session ends without another refresh: the life of the refresh cookie.
    pub session_expires_at: Timestamp,
}

/// A session about to be opened, and the token that will belong to it.
pub(crate) struct SessionDraft {
    pub(crate) session: NewSession,
    pub(crate) refresh: RefreshToken,
}

impl Service {
    /// Starts the hashing threads, makes sure of a signing key, loads settings and identity providers, and gives
    /// identities from before issuers were stored those of their providers.
    pub async fn start(parts: ServiceParts) -> Result<Self, StartError> {
        let keys = parts.secret.derive()?;
        let passwords = Passwords::start(parts.config.hashing, Arc::clone(&parts.entropy))?;
        let now = parts.clock.now();
        let clock_watch = ClockWatch::new(now, parts.clock.steady());
        let candidate = new_signing_key(parts.config.algorithm, &keys, &*parts.entropy, now)?;
        parts.store.ensure_signing_key(candidate).await?;
        let signing = KeySet::open(&parts.store.list_signing_keys(now).await?, &keys)?;
        let settings = parts.base_settings.in_force(&parts.store.load_settings().await?)?;
        let providers = Providers::open(&parts.oauth, parts.store.list_oauth_providers().await?, &keys)?;
        parts.store.settle_issuers(&providers.issuers()).await?;
        let provider_client = ProviderClient::new(parts.oauth.outbound.clone())?;
        let names =
            TokenNames { issuer: parts.config.origin().to_owned(), audience: parts.config.audience.clone() };
        Ok(Self {
            limits: Limits::new(parts.config.limits),
            refusals: Refusals::default(),
            config: parts.config,
            base_settings: parts.base_settings,
            settings: ArcSwap::from_pointee(settings),
            store: parts.store,
            clock_watch: StdMutex::new(clock_watch),
            clock: parts.clock,
            entropy: parts.entropy,
            keys,
            signing: ArcSwap::from_pointee(signing),
            names,
            passwords,
            mailer: parts.mailer,
            mail_written: Notify::new(),
            reloading: Mutex::new(()),
            oauth_parts: parts.oauth,
            providers: ArcSwap::from_pointee(providers),
            provider_client,
            search: ProfileSearch::default(),
            readiness: Readiness::default(),
            id_order: IdOrder::default(),
        })
    }

    /// What the service was told at its start.
    #[must_use]
    pub const fn config(&self) -> &ServiceConfig {
        &self.config
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> Arc<SettingsInForce> {
        self.settings.load_full()
    }

    /// The time, by the service's clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Random bytes, by the service's entropy.
    #[must_use]
    pub fn random_bytes<const N: usize>(&self) -> [u8; N] {
        self.entropy.bytes()
    }

    /// Random bytes for an id, in the order of making.
    pub(crate) fn id_bytes(&self, now: Timestamp) -> [u8; 10] {
        self.id_order.number(now, self.entropy.bytes())
    }

    /// A session for whoever the store will find.
    pub(crate) fn draft_session(&self, method: AuthMethod, client: &Client, now: Timestamp) -> SessionDraft {
        let refresh = RefreshToken::new(self.entropy.bytes(), self.entropy.bytes());
        let session = NewSession {
            id: SessionId::new(now, self.id_bytes(now)),
            family: refresh.family_hash(),
            refresh: refresh.hash(),
            created_at: now,
            idle_expires_at: now.plus(self.config.lifetimes.refresh_idle),
            absolute_expires_at: now.plus(self.config.lifetimes.refresh_absolute),
            method,
            identity: None,
            client: client.clone(),
            known_for: self.limits.known_client_age(),
        };
        SessionDraft { session, refresh }
    }

    /// The tokens of a session that was opened from its draft.
    pub(crate) fn signed_in(&self, user: User, draft: SessionDraft, now: Timestamp) -> Result<SignedIn> {
        let SessionDraft { session: new, refresh } = draft;
        let session = Session {
            id: new.id,
            user_id: user.id,
            created_at: new.created_at,
            last_seen_at: new.created_at,
            idle_expires_at: new.idle_expires_at,
            absolute_expires_at: new.absolute_expires_at,
            method: new.method,
            client: new.client,
        };
        self.with_tokens(user, &session, refresh, now)
    }

    /// The tokens of a living session.
    pub(crate) fn with_tokens(
        &self,
        user: User,
        session: &Session,
        refresh: RefreshToken,
        now: Timestamp,
    ) -> Result<SignedIn> {
        let access = self.issue_access_token(&user, session, now)?;
        let csrf_token = self.keys.csrf_token(&refresh.family_hash());
        Ok(SignedIn { user, access, refresh, csrf_token, session_expires_at: session.expires_at() })
    }

    /// A new access token of a living session.
    pub(crate) fn issue_access_token(
        &self,
        user: &User,
        session: &Session,
        now: Timestamp,
    ) -> Result<AccessToken> {
        let expires_at = now.plus(self.config.lifetimes.access_token).min(session.absolute_expires_at);
        let claims = self.names.claims(user, session, now, expires_at, self.entropy.bytes());
        let token = self.signing.load().signing()?.sign(&claims)?;
        // What the token says: whole seconds.
        Ok(AccessToken { token, expires_at: Timestamp::from_millis(expires_at.as_seconds() * 1000) })
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

    /// The outbox may have a mail about an act: where such mails are wanted, it is looked at.
    pub(crate) fn wake_outbox_for_notice(&self) {
        if self.config.notifies_owners {
            self.wake_outbox();
        }
    }

    /// The outbox has something new.
    pub(crate) fn wake_outbox(&self) {
        self.mail_written.notify_one();
    }
}

/// The cause of a fault of our own, for the operator at the start.
fn reason(error: &Error) -> String {
    let mut text = String::new();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
