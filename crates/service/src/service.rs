//! The service: its rooms, and how it starts.

use std::sync::Arc;

use arc_swap::ArcSwap;
use latchkey_domain::time::Timestamp;
use latchkey_oauth::{InvalidOutbound, ProviderClient};
use latchkey_store::{Store, StoreError};
use tokio::sync::Mutex as AsyncMutex;

use crate::access::Access;
use crate::accounts::Accounts;
use crate::admin::Admin;
use crate::clock::Clock;
use crate::config::ServiceConfig;
use crate::entropy::Entropy;
use crate::error::Error;
use crate::kernel::{ClientLimits, IdOrder, Kernel, LimitAudit, MailWriter};
use crate::mailbox::Mailbox;
use crate::oauth::OAuth;
use crate::outbox::{Mailer, Outbox};
use crate::passwords::hashing::HashingError;
use crate::passwords::{PasswordHasher, Passwords};
use crate::profiles::Profiles;
use crate::providers::{OAuthParts, ProviderRegistry};
use crate::readiness::Readiness;
use crate::search::Search;
use crate::secrets::{CannotDerive, ServerSecret};
use crate::sessions::Sessions;
use crate::settings::{BaseSettings, SettingsInForce};
use crate::shared::Shared;
use crate::tokens::access_tokens::TokenNames;
use crate::tokens::signing_keys::{KeySet, new_signing_key};
use crate::tokens::{self, AccessTokens};
use crate::upkeep::Upkeep;

/// The parts of a service.
pub struct ServiceParts {
    /// Its configuration.
    pub config: ServiceConfig,
    /// The editable settings as file, environment and command line give them.
    pub base_settings: BaseSettings,
    /// Its storage.
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

/// A failure to start.
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
    /// Settings of outbound HTTP.
    #[error(transparent)]
    Outbound(#[from] InvalidOutbound),
    /// Settings, signing keys or identity providers that do not fit.
    #[error("{0}: {reason}", reason = crate::service::reason(.0))]
    Service(#[from] Error),
}

/// The service: a room for each capability.
pub struct Service {
    /// Signing up.
    pub accounts: Accounts,
    /// Passwords: signing in with one, changing and resetting it.
    pub passwords: Arc<Passwords>,
    /// Sessions, their tokens, and who a bearer is.
    pub sessions: Arc<Sessions>,
    /// The anonymous key and the admin keys.
    pub access: Arc<Access>,
    /// Mailed codes and links.
    pub mailbox: Arc<Mailbox>,
    /// Identity providers.
    pub oauth: OAuth,
    /// Profiles.
    pub profiles: Arc<Profiles>,
    /// Searching profiles.
    pub search: Search,
    /// Administration.
    pub admin: Admin,
    /// Mails on their way out.
    pub outbox: Outbox,
    /// Deleting what is past its use.
    pub upkeep: Upkeep,
    /// Settings, providers and keys that other instances change.
    pub shared: Arc<Shared>,
    /// The readiness of the storage.
    pub readiness: Readiness,
    kernel: Arc<Kernel>,
}

impl Service {
    /// Starts the hashing threads, makes sure of a signing key, loads settings and identity providers, and gives
    /// identities from before issuers were stored those of their providers.
    pub async fn start(parts: ServiceParts) -> Result<Self, StartError> {
        let ServiceParts { config, base_settings, store, clock, entropy, secret, mailer, oauth } = parts;
        let hasher = PasswordHasher::start(config.hashing, Arc::clone(&entropy))?;
        let now = clock.now();
        let sealing = tokens::sealing_key(&secret)?;
        store.ensure_signing_key(new_signing_key(config.algorithm, &sealing, &*entropy, now)?).await?;
        let keys = KeySet::open(&store.list_signing_keys(now).await?, &sealing)?;
        let names = TokenNames { issuer: config.site.origin().to_owned(), audience: config.audience.clone() };
        let tokens = AccessTokens {
            names,
            algorithm: config.algorithm,
            sealing,
            in_force: ArcSwap::from_pointee(keys),
        };
        let settings = base_settings.in_force(&store.load_settings().await?)?;
        let client = ProviderClient::new(oauth.outbound.clone())?;
        let providers = ProviderRegistry::new(oauth, client, &secret)?;
        providers.replace(providers.open(store.list_oauth_providers().await?)?);
        store.settle_issuers(&providers.load().issuers()).await?;

        let mails = MailWriter::new(&secret, config.has_mail_transport, config.notifies_owners)?;
        let kernel = Arc::new(Kernel {
            store,
            clock,
            entropy,
            settings: ArcSwap::from_pointee(settings),
            limits: ClientLimits::new(config.limits.all.enabled),
            limit_audit: LimitAudit::default(),
            mails,
            site: config.site.clone(),
            ids: IdOrder::default(),
        });
        let reloading = AsyncMutex::default();
        let shared = Shared { kernel: kernel.clone(), base_settings, tokens, providers, reloading };
        Ok(Self::open(kernel, Arc::new(shared), config, &secret, hasher, mailer)?)
    }

    /// Opens the rooms, from the bottom up: a room uses the kernel and the rooms above its line.
    fn open(
        kernel: Arc<Kernel>,
        shared: Arc<Shared>,
        config: ServiceConfig,
        secret: &ServerSecret,
        hasher: PasswordHasher,
        mailer: Mailer,
    ) -> Result<Self, CannotDerive> {
        let ServiceConfig { limits, lifetimes, .. } = config;
        let k = || kernel.clone();
        let sessions =
            Arc::new(Sessions::new(k(), shared.clone(), secret, limits.sessions, lifetimes.sessions)?);
        let s = || sessions.clone();
        let access =
            Arc::new(Access { kernel: k(), sessions: s(), keys: config.access, limits: limits.access });
        let mailbox = Mailbox::new(k(), s(), secret, limits.mailbox, lifetimes.mailbox)?;
        let mailbox = Arc::new(mailbox);
        let passwords = Arc::new(Passwords {
            kernel: k(),
            sessions: s(),
            mailbox: mailbox.clone(),
            hasher,
            limits: limits.passwords,
            lifetimes: lifetimes.passwords,
        });
        let profiles = Arc::new(Profiles { kernel: k(), sessions: s(), limits: limits.profiles });
        Ok(Self {
            accounts: Accounts {
                kernel: k(),
                sessions: s(),
                passwords: passwords.clone(),
                mailbox: mailbox.clone(),
                limits: limits.accounts,
            },
            oauth: OAuth::new(
                k(),
                shared.clone(),
                s(),
                access.clone(),
                secret,
                limits.oauth,
                lifetimes.oauth,
            )?,
            search: Search::new(k(), profiles.clone(), config.search_engine),
            admin: Admin { kernel: k(), shared: shared.clone(), passwords: passwords.clone() },
            outbox: Outbox { kernel: k(), mailer, sender: config.mail_from, retries: config.mail_retries },
            upkeep: Upkeep::new(k(), s(), lifetimes.upkeep),
            readiness: Readiness::new(k()),
            passwords,
            sessions,
            access,
            mailbox,
            profiles,
            shared,
            kernel,
        })
    }

    /// The name of the service, as people see it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.kernel.site.service_name
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> Arc<SettingsInForce> {
        self.kernel.settings()
    }

    /// The time, by the service's clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.kernel.now()
    }

    /// Random bytes, by the service's entropy.
    #[must_use]
    pub fn random_bytes<const N: usize>(&self) -> [u8; N] {
        self.kernel.entropy.bytes()
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
