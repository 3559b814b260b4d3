//! Builder of the service in a test. By default the service runs in development mode. It requires no email
//! verification, has no rate limits, and allows no redirect targets.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use latchkey_domain::passkey::RpId;
use latchkey_domain::redirect::DevelopmentLoopback;
use latchkey_domain::tokens::TokenHash;
use latchkey_http::settings::{HttpSettings, ServeSettings};
use latchkey_mail::Mailbox;
use latchkey_oauth::{Networks, OutboundSettings};
use latchkey_service::access::AccessKeys;
use latchkey_service::oauth::providers::OAuthParts;
use latchkey_service::outbox::MailRetries;
use latchkey_service::passkeys::RelyingParty;
use latchkey_service::passwords::HashingConfig;
use latchkey_service::search::SearchEngine;
use latchkey_service::settings::{BaseSettings, EditableSettings, EmailMethod, EmailSignIn};
use latchkey_service::tokens::SigningAlgorithm;
use latchkey_service::{LimitSwitch, LimitsConfig, OperatorRules, ServiceConfig, Site};
use latchkey_settings::{Group, Source, defaults};
use url::Url;

use crate::app::TestApp;
use crate::console::ConsolePlan;
use crate::instance::SECRET;
use crate::storage::Storage;
use crate::time::seconds;

/// Admin key that is configured in every test.
pub const ADMIN_KEY: &str = "admin-key-of-the-tests-0123456789abcdef";
/// Anonymous key of tests that configure one.
pub const ANON_KEY: &str = "anon_key-of-the-tests";
/// Password of the users that tests sign up.
pub const PASSWORD: &str = "violet anchor 42 lantern";

const DEVELOPMENT_URL: &str = "http://localhost:8700";
const PRODUCTION_URL: &str = "https://accounts.example.org";

/// Mail transport of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MailTransport {
    /// Mailbox in memory, read by the test.
    Memory,
    /// `.eml` files under `mails` in the test's folder.
    Files,
    /// Mail server on this port of 127.0.0.1.
    Smtp(u16),
    /// No transport: the service cannot send mails.
    None,
}

/// Builder of the service in a test.
#[derive(Clone)]
pub struct TestAppBuilder {
    pub(crate) storage: Storage,
    pub(crate) is_far: bool,
    pub(crate) config: ServiceConfig,
    pub(crate) base: BaseSettings,
    pub(crate) http: HttpSettings,
    pub(crate) serve: ServeSettings,
    pub(crate) cors_origins: Vec<String>,
    pub(crate) mail: MailTransport,
    pub(crate) oauth: OAuthParts,
    pub(crate) has_pages: bool,
    pub(crate) console: Option<ConsolePlan>,
    pub(crate) seed: u64,
    pub(crate) secret: &'static [u8],
}

impl Default for TestAppBuilder {
    fn default() -> Self {
        let public_url = Url::parse(DEVELOPMENT_URL).unwrap();
        let mut http = HttpSettings::new(public_url.clone(), true);
        http.trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
        Self {
            storage: Storage::Sqlite,
            is_far: false,
            config: service_config(public_url),
            base: base_settings(),
            http,
            serve: ServeSettings { drain_timeout: seconds(5), ..ServeSettings::default() },
            cors_origins: Vec::new(),
            mail: MailTransport::Memory,
            oauth: OAuthParts { outbound: outbound(), ..OAuthParts::default() },
            has_pages: false,
            console: None,
            seed: 1,
            secret: SECRET,
        }
    }
}

/// Outbound settings that allow requests to this machine, where the fake providers listen.
fn outbound() -> OutboundSettings {
    OutboundSettings { networks: Networks { loopback: true, private: false }, ..OutboundSettings::default() }
}

fn service_config(public_url: Url) -> ServiceConfig {
    ServiceConfig {
        audience: DEVELOPMENT_URL.to_owned(),
        site: Site {
            console_url: public_url.clone(),
            public_url,
            service_name: "Latchkey".to_owned(),
            redirect_param_prefix: "service".to_owned(),
            create_profile_on_sign_up: true,
        },
        algorithm: SigningAlgorithm::Es256,
        lifetimes: defaults(),
        // Minimal cost of argon2, to keep tests fast.
        hashing: HashingConfig {
            memory_kib: 64,
            iterations: 1,
            threads: NonZeroUsize::MIN,
            queue: 64,
            foreign_memory: 256 << 20,
        },
        limits: LimitsConfig { all: LimitSwitch { enabled: false }, ..defaults() },
        search_engine: SearchEngine::Memory,
        has_mail_transport: true,
        notifies_owners: false,
        mail_from: Mailbox::parse("Latchkey <no-reply@example.org>").unwrap(),
        mail_retries: MailRetries::default(),
        access: AccessKeys { admin: vec![TokenHash::of(ADMIN_KEY.as_bytes())], ..AccessKeys::default() },
        relying_party: RelyingParty {
            id: Some(RpId::new("localhost")),
            any_localhost: true,
            ..RelyingParty::default()
        },
        operators: OperatorRules { protect: true, require_second_factor: true, providers: Vec::new() },
    }
}

fn base_settings() -> BaseSettings {
    BaseSettings {
        values: defaults(),
        pinned: BTreeMap::new(),
        development: DevelopmentLoopback::Allowed,
        has_mail_transport: true,
        own_targets: Vec::new(),
    }
}

impl TestAppBuilder {
    /// Starts the service in a new temporary folder.
    pub async fn start(self) -> TestApp {
        Box::pin(TestApp::start(self)).await // the future is large
    }

    /// Sets the storage engine.
    #[must_use]
    pub fn storage(mut self, storage: Storage) -> Self {
        self.storage = storage;
        self
    }

    /// Uses PostgreSQL behind a proxy that counts round trips, for [`TestApp::round_trips`].
    #[must_use]
    pub fn counting_round_trips(mut self) -> Self {
        self.storage = Storage::Postgres;
        self.is_far = true;
        self
    }

    /// Sets the seed of the random numbers.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the server secret, which seals what the database has of secrets. Not for a console.
    #[must_use]
    pub fn server_secret(mut self, secret: &'static [u8]) -> Self {
        self.secret = secret;
        self
    }

    /// Serves the hosted pages, with the default theme.
    #[must_use]
    pub fn pages(mut self) -> Self {
        self.has_pages = true;
        self
    }

    /// Switches to production mode with an https URL: no redirects to loopback, no `/dev` pages, `Secure` cookies,
    /// HSTS. Does not change whether verification is required.
    #[must_use]
    pub fn mode_production(mut self) -> Self {
        let public_url = Url::parse(PRODUCTION_URL).unwrap();
        PRODUCTION_URL.clone_into(&mut self.config.audience);
        self.config.site.public_url = public_url.clone();
        self.config.site.console_url = public_url.clone();
        self.http.public_url = public_url.clone();
        self.http.development = false;
        self.base.development = DevelopmentLoopback::Refused;
        self.oauth.outbound.networks.loopback = false;
        self.config.relying_party.id = public_url.host_str().map(RpId::new);
        self.config.relying_party.any_localhost = false;
        self
    }

    /// Enables the rate limits, with the default values of the service.
    #[must_use]
    pub fn limits(mut self) -> Self {
        self.config.limits.all.enabled = true;
        self
    }

    /// Requires verified addresses, by this method.
    #[must_use]
    pub fn verification(self, method: EmailMethod) -> Self {
        self.settings(|settings| {
            settings.require_email_verification = true;
            settings.verify_email_method = method;
        })
    }

    /// Requires verified addresses, by a six-digit code.
    #[must_use]
    pub fn verification_by_code(self) -> Self {
        self.verification(EmailMethod::Code)
    }

    /// Requires verified addresses, by a link.
    #[must_use]
    pub fn verification_by_link(self) -> Self {
        self.verification(EmailMethod::Link)
    }

    /// Sends links instead of codes for a password reset.
    #[must_use]
    pub fn link_reset(self) -> Self {
        self.settings(|settings| settings.reset_password_method = EmailMethod::Link)
    }

    /// Sets whether users can sign in by mail, and how.
    #[must_use]
    pub fn email_sign_in(self, by_mail: EmailSignIn) -> Self {
        self.settings(|settings| settings.email_sign_in = by_mail)
    }

    /// Sets the list of allowed redirect targets.
    #[must_use]
    pub fn redirects(self, entries: &[&str]) -> Self {
        let entries = entries.iter().map(|&entry| entry.to_owned()).collect();
        self.settings(|settings| settings.allowed_redirect_urls = entries)
    }

    /// Sets the default redirect target.
    #[must_use]
    pub fn default_redirect(self, url: &str) -> Self {
        self.settings(|settings| settings.default_redirect_url = Some(url.to_owned()))
    }

    /// Disables sign-up.
    #[must_use]
    pub fn sign_up_disabled(self) -> Self {
        self.settings(|settings| settings.disable_sign_up = true)
    }

    /// Pins a setting as if in the operator's file: an admin cannot change it.
    #[must_use]
    pub fn pinned(mut self, setting: &'static str) -> Self {
        self.base.pinned.insert(setting, pinned_in());
        self
    }

    /// Pins all settings that an admin could change.
    #[must_use]
    pub fn pinned_all(mut self) -> Self {
        self.base.pinned.extend(EditableSettings::ITEMS.iter().map(|item| (item.name, pinned_in())));
        self
    }

    /// Creates no profile at sign-up.
    #[must_use]
    pub fn no_profile_on_sign_up(mut self) -> Self {
        self.config.site.create_profile_on_sign_up = false;
        self
    }

    /// Configures [`ANON_KEY`]. Public calls work without it too.
    #[must_use]
    pub fn anon_key(mut self) -> Self {
        self.config.access.anonymous = Some(TokenHash::of(ANON_KEY.as_bytes()));
        self
    }

    /// Requires [`ANON_KEY`] on public calls.
    #[must_use]
    pub fn require_anon_key(mut self) -> Self {
        self.config.access.require_anonymous = true;
        self.anon_key()
    }

    /// Enables security notifications.
    #[must_use]
    pub fn notifying(mut self) -> Self {
        self.config.notifies_owners = true;
        self
    }

    /// Removes the mail transport.
    #[must_use]
    pub fn no_mail_transport(mut self) -> Self {
        self.config.has_mail_transport = false;
        self.base.has_mail_transport = false;
        self.mail = MailTransport::None;
        self
    }

    /// Writes mails as `.eml` files under `mails` in [`TestApp::folder`], for `/dev/mail`, instead of the test's
    /// mailbox.
    #[must_use]
    pub fn mails_into_files(mut self) -> Self {
        self.mail = MailTransport::Files;
        self
    }

    /// Sends mails to a mail server on this port of 127.0.0.1, without TLS, instead of the test's mailbox.
    #[must_use]
    pub fn mails_by_smtp(mut self, port: u16) -> Self {
        self.mail = MailTransport::Smtp(port);
        self
    }

    /// Sends mails to the test's mailbox again, after a restart with another transport.
    #[must_use]
    pub fn mails_into_memory(mut self) -> Self {
        self.mail = MailTransport::Memory;
        self
    }

    /// Sets `server.cors_origins`.
    #[must_use]
    pub fn cors_origins(mut self, origins: &[&str]) -> Self {
        self.cors_origins = origins.iter().map(|&origin| origin.to_owned()).collect();
        self
    }

    /// Changes other editable settings.
    #[must_use]
    pub fn settings(mut self, change: impl FnOnce(&mut EditableSettings)) -> Self {
        change(&mut self.base.values);
        self
    }

    /// Changes other configuration of the service.
    #[must_use]
    pub fn config(mut self, change: impl FnOnce(&mut ServiceConfig)) -> Self {
        change(&mut self.config);
        self
    }

    /// Changes the OAuth configuration.
    #[must_use]
    pub fn oauth(mut self, change: impl FnOnce(&mut OAuthParts)) -> Self {
        change(&mut self.oauth);
        self
    }

    /// Changes other HTTP settings.
    #[must_use]
    pub fn http(mut self, change: impl FnOnce(&mut HttpSettings)) -> Self {
        change(&mut self.http);
        self
    }

    /// Changes settings of the server loop: connection and request limits.
    #[must_use]
    pub fn serve(mut self, change: impl FnOnce(&mut ServeSettings)) -> Self {
        change(&mut self.serve);
        self
    }
}

/// Source of a pinned setting.
fn pinned_in() -> Source {
    Source::File("/etc/latchkey.toml".into())
}
