//! `Service`, which has one field per module of use cases, its configuration, and its start from injected
//! parts. Settings that an admin edits at run time are in [`crate::settings`].

use std::sync::Arc;

use arc_swap::ArcSwap;
use latchkey_domain::time::Timestamp;
use latchkey_mail::Mailbox as MailAddress;
use latchkey_oauth::{InvalidOutbound, ProviderClient};
use latchkey_settings::{Group, Groups, Item, Reader, settings};
use latchkey_store::{Store, StoreError};
use tokio::sync::Mutex as AsyncMutex;

use crate::access::{Access, AccessKeys};
use crate::accounts::Accounts;
use crate::admin::Admin;
use crate::backups::Backups;
use crate::challenges::Challenges;
use crate::clock::Clock;
use crate::console::Console;
use crate::deletion::Deletion;
use crate::email_change::EmailChanges;
use crate::entropy::Entropy;
use crate::error::Error;
use crate::exports::Exports;
use crate::factors::Factors;
use crate::imports::Imports;
use crate::instances::Instances;
use crate::kernel::{Alone, ClientLimits, IdOrder, Kernel, LimitAudit, MailWriter, OperatorRules, Site};
use crate::mailbox::Mailbox;
use crate::metrics::Metrics;
use crate::oauth::OAuth;
use crate::operators::Operators;
use crate::outbox::{MailRetries, Mailer, Outbox};
use crate::own_data::OwnData;
use crate::page_sessions::PageSessions;
use crate::passkeys::{Passkeys, RelyingParty};
use crate::passwords::hashing::HashingError;
use crate::passwords::{HashingConfig, PasswordHasher, Passwords};
use crate::profiles::Profiles;
use crate::providers::{OAuthParts, ProviderRegistry};
use crate::readiness::Readiness;
use crate::search::{Search, SearchEngine};
use crate::secret_rotation::with_kept_keys;
use crate::secrets::{CannotDerive, ServerSecret, WrongSecret};
use crate::sessions::Sessions;
use crate::settings::{BaseSettings, SettingsInForce};
use crate::shared::Shared;
use crate::tokens::access_tokens::TokenNames;
use crate::tokens::signing_keys::{KeySet, new_signing_key};
use crate::tokens::{self, AccessTokens, SigningAlgorithm};
use crate::undo::UndoLinks;
use crate::upkeep::Upkeep;
use crate::{
    access, accounts, deletion, email_change, exports, factors, imports, mailbox, oauth, own_data, passkeys,
    passwords, profiles, sessions, upkeep,
};

mod exposition;
mod opening;

macro_rules! by_capability {
    ($(#[$doc:meta])* $name:ident { $($capability:ident: $group:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name {
            $(#[doc = concat!("[`", stringify!($group), "`].")] pub $capability: $group,)*
        }

        impl Groups for $name {
            const GROUPS: &'static [&'static [Item]] = &[$(<$group>::ITEMS),*];

            fn read_all(reader: &mut Reader<'_>) -> Self {
                Self { $($capability: Group::read(reader),)* }
            }
        }
    };
}

by_capability! {
    /// The lifetimes of tokens, codes and rows, one group per module of use cases.
    Lifetimes {
        sessions: sessions::Lifetimes,
        mailbox: mailbox::Lifetimes,
        passwords: passwords::Lifetimes,
        factors: factors::Lifetimes,
        email_change: email_change::Lifetimes,
        deletion: deletion::Lifetimes,
        upkeep: upkeep::Lifetimes,
        oauth: oauth::Lifetimes,
    }
}

by_capability! {
    /// The rate limits, one group per module of use cases.
    LimitsConfig {
        all: LimitSwitch,
        passwords: passwords::Limits,
        factors: factors::Limits,
        passkeys: passkeys::Limits,
        accounts: accounts::Limits,
        mailbox: mailbox::Limits,
        sessions: sessions::Limits,
        profiles: profiles::Limits,
        oauth: oauth::Limits,
        own_data: own_data::Limits,
        exports: exports::Limits,
        access: access::Limits,
        imports: imports::Limits,
    }
}

settings! {
    /// The switch of all rate limits.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct LimitSwitch {
        /// Enforces the rate limits. Each is a token bucket: 10/15m allows 10 requests at once and refills
        /// evenly over 15 minutes. A request over a limit gets 429 with Retry-After and the name of the
        /// limit. IPv6 addresses count by their /64. Switch this off for load tests only.
        "limits.enabled" => enabled: bool = true;
    }
}

/// Configuration that does not change while the service runs.
#[derive(Debug, Clone)]
pub struct ServiceConfig {
    pub site: Site,
    /// The claim `aud` of access tokens.
    pub audience: String,
    pub algorithm: SigningAlgorithm,
    pub lifetimes: Lifetimes,
    /// Cost parameters and queue of password hashing.
    pub hashing: HashingConfig,
    pub limits: LimitsConfig,
    pub search_engine: SearchEngine,
    /// True if a mail transport is configured.
    pub has_mail_transport: bool,
    /// True if account owners get security notifications by mail.
    pub notifies_owners: bool,
    pub mail_from: MailAddress,
    pub mail_retries: MailRetries,
    pub access: AccessKeys,
    pub relying_party: RelyingParty,
    pub operators: OperatorRules,
}

/// The dependencies and the configuration from which [`Service::start`] builds a service.
pub struct ServiceParts {
    pub config: ServiceConfig,
    /// The settings that an admin may edit, with the values from the file, the environment and the command line.
    pub base_settings: BaseSettings,
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    pub secret: ServerSecret,
    pub mailer: Mailer,
    /// The configuration of identity providers and of outbound HTTP to them.
    pub oauth: OAuthParts,
}

/// A failure to start the service.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A database operation failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The threads that hash passwords cannot be started.
    #[error(transparent)]
    Hashing(#[from] HashingError),
    /// A key cannot be derived from the server secret.
    #[error(transparent)]
    Keys(#[from] CannotDerive),
    /// The settings of outbound HTTP to identity providers are invalid.
    #[error(transparent)]
    Outbound(#[from] InvalidOutbound),
    /// The server secret is not the one of the database.
    #[error(transparent)]
    Secret(#[from] WrongSecret),
    /// Stored settings, signing keys or identity providers cannot be loaded.
    #[error("{0}: {reason}", reason = crate::service::reason(.0))]
    Service(Error),
}

impl From<Error> for StartError {
    /// A sealed value that does not open tells of another secret, which the operator can mend.
    fn from(error: Error) -> Self {
        if error.is_of_another_secret() { Self::Secret(WrongSecret::Other) } else { Self::Service(error) }
    }
}

/// The service: one field per module of use cases, such as `sessions`. The HTTP layer, the workers and the
/// command line call its use cases.
pub struct Service {
    pub accounts: Arc<Accounts>,
    /// Sign-in by password; change and reset of a password.
    pub passwords: Arc<Passwords>,
    /// Sessions, their access and refresh tokens, and the authentication of bearer tokens.
    pub sessions: Arc<Sessions>,
    pub access: Arc<Access>,
    /// Verification of email addresses by mailed codes and links, and sign-in by them.
    pub mailbox: Arc<Mailbox>,
    /// Second factors, and two-step sign-in.
    pub factors: Arc<Factors>,
    /// Passkeys: registration, sign-in, and the list of an account's passkeys.
    pub passkeys: Arc<Passkeys>,
    /// Requests for a second factor or a reauthentication, and their answers.
    pub challenges: Arc<Challenges>,
    /// Undo links in mails, by which the owner of the mailbox reverses a change of the account.
    pub undo: UndoLinks,
    /// The data that the service stores about a user, for that user.
    pub own_data: OwnData,
    /// The export of all accounts.
    pub exports: Arc<Exports>,
    /// Deletion of an account by its owner.
    pub deletion: Deletion,
    /// Changes of the email address of an account by its owner.
    pub email_changes: EmailChanges,
    /// Sign-in through identity providers.
    pub oauth: OAuth,
    /// Sessions of the service's own pages.
    pub page_sessions: PageSessions,
    pub profiles: Arc<Profiles>,
    pub search: Search,
    pub operators: Operators,
    pub console: Console,
    /// The use cases of an admin: users, settings and the audit log.
    pub admin: Admin,
    /// Imports of accounts from other services.
    pub imports: Arc<Imports>,
    /// Delivery of mails from the outbox table.
    pub outbox: Outbox,
    /// Periodic deletion of expired rows, and rotation of the signing key.
    pub upkeep: Upkeep,
    /// Settings, identity providers and signing keys in force, which any instance can change through the database.
    pub shared: Arc<Shared>,
    pub readiness: Readiness,
    /// The instances of the service that run.
    pub instances: Instances,
    /// The age of the newest backup, and the settlement of a restored database.
    pub backups: Backups,
    pub(crate) kernel: Arc<Kernel>,
}

impl Service {
    /// Starts the hashing threads, creates a signing key if none exists, and loads settings and identity providers.
    /// Linked identities that old releases stored without an issuer get the issuer of their provider.
    pub async fn start(parts: ServiceParts) -> Result<Self, StartError> {
        let ServiceParts { config, base_settings, store, clock, entropy, secret, mailer, oauth } = parts;
        // The settings come first. A replacement of the secret that begins later has another version than theirs, by which
        // this instance notices it; one that began earlier is seen by what follows.
        let stored_settings = store.load_settings().await?;
        let secret = with_kept_keys(secret, &*store).await?;
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
        let settings = base_settings.in_force(&stored_settings)?;
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
            operators: config.operators.clone(),
            ids: IdOrder::default(),
            metrics: Metrics::default(),
            counting: Alone::default(),
        });
        let reloading = AsyncMutex::default();
        let locales = mailer.templates.locales().to_vec();
        let shared = Shared { kernel: kernel.clone(), base_settings, locales, tokens, providers, reloading };
        let service = Self::open(kernel, Arc::new(shared), config, &secret, hasher, mailer)?;
        service.passwords.learn_classes().await?;
        Ok(service)
    }

    /// Returns the name of the service for display, such as in mails.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.kernel.site.service_name
    }

    #[must_use]
    pub fn site(&self) -> &Site {
        &self.kernel.site
    }

    #[must_use]
    pub fn settings(&self) -> Arc<SettingsInForce> {
        self.kernel.settings()
    }

    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.kernel.now()
    }

    #[must_use]
    pub fn random_bytes<const N: usize>(&self) -> [u8; N] {
        self.kernel.entropy.bytes()
    }
}

/// Joins an error and its causes by colons, for the operator who reads it at the start.
fn reason(error: &Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
