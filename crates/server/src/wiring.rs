//! Construction of the service and all its parts from the settings.

mod oauth;
mod pages;

pub(crate) use oauth::parts as oauth_parts;
pub(crate) use pages::{Parts as PageParts, check_pages, console, console_entry, pages, parts as page_parts};

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use latchkey_domain::tokens::TokenHash;
use latchkey_hosted::PageKeys;
use latchkey_http::settings::{HttpSettings, ServeSettings};
use latchkey_mail::{
    FileTransport, InvalidSmtpSettings, Mailbox, SmtpPassword, SmtpSettings, SmtpTransport, Templates,
    Transport,
};
use latchkey_service::access::AccessKeys;
use latchkey_service::clock::SystemClock;
use latchkey_service::entropy::SystemEntropy;
use latchkey_service::outbox::MailRetries;
use latchkey_service::passwords::HashingConfig;
use latchkey_service::secrets::{ServerSecret, WrongSecret};
use latchkey_service::settings::{BaseSettings, check_offered};
use latchkey_service::{Mailer, OperatorRules, Service, ServiceConfig, ServiceParts, Site, StartError};
use latchkey_store::Store;

use crate::data_folder::{DataFolder, DataFolderError, Kept, SECRET_FILE, read_kept};
use crate::settings::{self, MailTransport, Scope, Secret, Settings};
use crate::storage::{self, OpenStore, OpenedBy, StorageFault, Waiting};

/// Remedy of a file of certificate authorities that cannot be read.
pub(crate) const CA_REMEDY: &str = "put certificates in PEM form there, or unset the key";

/// Failure to build a part of the service from the settings.
#[derive(Debug, thiserror::Error)]
pub enum WiringError {
    #[error(transparent)]
    DataFolder(#[from] DataFolderError),
    /// The database cannot be opened.
    #[error("storage.url: the database {database} cannot be opened: {reason}")]
    Storage {
        /// URL or path of the database, without a password.
        database: String,
        reason: String,
    },
    /// The mail transport, the templates or the sender cannot be used.
    #[error("{key}: {reason}")]
    Mail {
        /// Key of the setting that causes the error.
        key: &'static str,
        reason: String,
    },
    /// An identity provider, or a setting of outbound requests, cannot be used.
    #[error("{key}: {reason}")]
    OAuth {
        /// Key of the setting that causes the error.
        key: String,
        reason: String,
    },
    /// A file of the pages' theme, a template or a language cannot be used.
    #[error("{key}: {reason}")]
    Pages {
        /// Key of the setting that causes the error.
        key: &'static str,
        reason: String,
    },
    /// `server.secret` has fewer than 32 bytes.
    #[error("server.secret: must have 32 bytes or more")]
    Secret,
    /// There is no `server.secret`, and none in the data folder.
    #[error("server.secret: the secret of the database is missing: put it back into {}", .0.display())]
    NoSecret(PathBuf),
    /// `server.secret` is not the one of the database.
    #[error("server.secret: {0}")]
    WrongSecret(WrongSecret),
    /// The service itself failed to start.
    #[error("the service cannot start: {0}")]
    Service(StartError),
}

impl From<StartError> for WiringError {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Secret(reason) => Self::WrongSecret(reason),
            other => Self::Service(other),
        }
    }
}

impl WiringError {
    /// Splits the error into the key of the setting and the sentence about it. The key is `start` if the error names
    /// none.
    #[must_use]
    pub fn place_and_sentence(&self) -> (String, String) {
        let text = self.to_string();
        let (place, sentence) = text.split_once(": ").unwrap_or(("start", &text));
        (place.to_owned(), sentence.to_owned())
    }
}

/// The service, and the other parts that commands use.
pub struct Assembly {
    pub service: Arc<Service>,
    /// Keys of the hosted pages.
    pub page_keys: Arc<PageKeys>,
    /// Opened database. Commands read it directly where the service offers no use case, and the running service gets
    /// notifications of other instances through it.
    pub storage: OpenStore,
    /// Admin key of development mode, stored in the data folder. `None` if the settings have an admin key, or if the
    /// command does not need it.
    pub kept_admin_key: Option<Kept>,
    /// True if the service has the console.
    pub has_console: bool,
}

/// Builds the service: reads or generates secrets, opens and migrates the database, loads keys and settings.
pub async fn assemble(settings: &Settings, opened_by: OpenedBy) -> Result<Assembly, WiringError> {
    storage::refuse_missing(settings)?;
    let entropy = SystemEntropy;
    let folder = DataFolder::open(&settings.data.dir)?;
    let secret = match &settings.server.secret {
        Some(secret) => Secret::new(secret.reveal().to_owned()),
        None => folder.server_secret(&entropy)?.secret,
    };
    let kept_admin_key = match &settings.admin.api_key {
        None if settings.scope == Scope::Service => Some(folder.admin_key(&entropy)?),
        _ => None,
    };
    // Errors in the mail settings are reported before waiting for the database.
    transport(settings)?;
    let storage = storage::open_or_wait(settings, opened_by).await?;
    let page_keys = PageKeys::derive(&server_secret(&secret)?).map_err(StartError::from)?;
    let mut waiting = Waiting::default();
    let service = loop {
        let parts = parts(settings, &storage.store, &secret, kept_admin_key.as_ref())?;
        match Service::start(parts).await {
            Err(StartError::Store(error)) => match storage::fault_of(settings, &error) {
                StorageFault::Transient(reason) if opened_by == OpenedBy::Service => {
                    waiting.pause(settings, &reason).await;
                }
                fault => return Err(storage::refuse(settings, fault)),
            },
            started => break started?,
        }
    };
    Ok(Assembly {
        service: Arc::new(service),
        page_keys: Arc::new(page_keys),
        storage,
        has_console: settings.console.enabled,
        kept_admin_key,
    })
}

fn parts(
    settings: &Settings,
    store: &Arc<dyn Store>,
    secret: &Secret,
    kept_admin_key: Option<&Kept>,
) -> Result<ServiceParts, WiringError> {
    Ok(ServiceParts {
        base_settings: base_settings(settings),
        config: service_config(settings, kept_admin_key)?,
        store: Arc::clone(store),
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SystemEntropy),
        secret: server_secret(secret)?,
        mailer: Mailer { templates: templates(settings)?, transport: transport(settings)? },
        oauth: oauth::parts(settings)?,
    })
}

/// Returns the server secret of an existing database, from the settings or the data folder. Makes none: a new one would
/// open nothing.
pub fn stored_secret(settings: &Settings) -> Result<ServerSecret, WiringError> {
    match &settings.server.secret {
        Some(secret) => server_secret(secret),
        None => match read_kept(&settings.data.dir, SECRET_FILE) {
            Some(kept) => server_secret(&kept?),
            None => Err(WiringError::NoSecret(settings.data.dir.join(SECRET_FILE))),
        },
    }
}

pub(crate) fn server_secret(secret: &Secret) -> Result<ServerSecret, WiringError> {
    ServerSecret::new(secret.reveal().as_bytes().to_vec()).ok_or(WiringError::Secret)
}

#[must_use]
pub fn http_settings(settings: &Settings) -> HttpSettings {
    let server = &settings.server;
    HttpSettings {
        trusted_proxies: server.trusted_proxies.clone(),
        cross_site_apps: server.cross_site_apps,
        cors_headers: server.cors_headers.clone(),
        cookie_name: server.cookie_name.clone(),
        body_limit: server.max_body_bytes,
        profile_body_limit: server.max_profile_body_bytes,
        upload_limit: server.max_upload_bytes,
        body_timeout: server.body_timeout,
        request_timeout: server.request_timeout,
        has_traces: settings.traces.endpoint.is_some(),
        traces_users: settings.traces.user_ids,
        ..HttpSettings::new(server.public_url.clone(), server.is_development())
    }
}

#[must_use]
pub fn serve_settings(settings: &Settings) -> ServeSettings {
    let Settings { server, limits, .. } = settings;
    ServeSettings {
        max_connections: server.max_connections,
        max_connections_per_address: server.connection_share().filter(|_| limits.all.enabled),
        trusted_proxies: server.trusted_proxies.clone(),
        max_requests: server.max_requests,
        first_byte_timeout: server.first_byte_timeout,
        header_read_timeout: server.header_read_timeout,
        request_timeout: server.request_timeout,
        drain_timeout: server.drain_timeout,
    }
}

fn transport(settings: &Settings) -> Result<Option<Transport>, WiringError> {
    let mail = &settings.mail;
    if settings.scope != Scope::Service {
        return Ok(None);
    }
    match mail.transport {
        MailTransport::None => Ok(None),
        MailTransport::File => {
            let folder = FileTransport::new(&mail.dir)
                .map_err(|error| WiringError::Mail { key: "mail.dir", reason: error.to_string() })?;
            Ok(Some(Transport::File(folder)))
        }
        MailTransport::Smtp => Ok(Some(Transport::Smtp(smtp_transport(&settings.smtp)?))),
    }
}

/// Makes the SMTP transport. Reads its certificates, but does not connect.
pub(crate) fn smtp_transport(smtp: &settings::SmtpSettings) -> Result<SmtpTransport, WiringError> {
    SmtpTransport::new(smtp_settings(smtp)).map_err(|error| match error {
        InvalidSmtpSettings::CaFile { .. } => {
            WiringError::Mail { key: "mail.smtp.ca_file", reason: format!("{error}; {CA_REMEDY}") }
        }
        other => WiringError::Mail { key: "mail.smtp", reason: other.to_string() },
    })
}

fn smtp_settings(smtp: &settings::SmtpSettings) -> SmtpSettings {
    SmtpSettings {
        username: smtp.username.clone(),
        password: smtp.password.as_ref().map(|password| SmtpPassword::new(password.reveal().to_owned())),
        tls: smtp.tls,
        ca_file: smtp.ca_file.clone(),
        timeout: smtp.timeout,
        ..SmtpSettings::new(smtp.host.clone(), smtp.port)
    }
}

pub(crate) fn templates(settings: &Settings) -> Result<Templates, WiringError> {
    let templates = match &settings.mail.templates_dir {
        Some(folder) if settings.scope == Scope::Service => Templates::load(folder),
        _ => Templates::embedded(),
    };
    let templates = templates.map_err(|error| WiringError::Mail {
        key: "mail.templates_dir",
        reason: latchkey_http::error::chain_of(&error),
    })?;
    if settings.scope == Scope::Service {
        check_offered(&settings.editable.default_locale, templates.locales())
            .map_err(|reason| WiringError::Mail { key: "mail.default_locale", reason })?;
    }
    Ok(templates)
}

/// True if a mail transport is configured. Also true in a command that does not read the mail settings.
fn has_mail_transport(settings: &Settings) -> bool {
    settings.scope != Scope::Service || settings.mail.transport != MailTransport::None
}

/// Returns the configured values of the settings that an admin can change at run time.
#[must_use]
pub fn base_settings(settings: &Settings) -> BaseSettings {
    BaseSettings {
        values: settings.editable.clone(),
        pinned: settings.pinned_keys().collect(),
        development: settings.server.mode.loopback(),
        has_mail_transport: has_mail_transport(settings),
        own_targets: pages::own_targets(settings),
    }
}

fn service_config(settings: &Settings, kept_admin_key: Option<&Kept>) -> Result<ServiceConfig, WiringError> {
    let Settings { server, auth, passwords, features, admin, .. } = settings;
    let origin = server.public_url.as_str().trim_end_matches('/');
    let admin_keys =
        [admin.api_key.as_ref(), admin.api_key_next.as_ref(), kept_admin_key.map(|kept| &kept.secret)];
    let hash_of = |secret: &Secret| TokenHash::of(secret.reveal().as_bytes());
    Ok(ServiceConfig {
        site: Site {
            public_url: server.public_url.clone(),
            console_url: settings.console.public_url.clone(),
            service_name: server.service_name.clone(),
            redirect_param_prefix: auth.redirect_param_prefix.clone(),
            create_profile_on_sign_up: features.create_profile_on_sign_up,
        },
        audience: auth.jwt_audience.clone().unwrap_or_else(|| origin.to_owned()),
        algorithm: auth.jwt_algorithm,
        lifetimes: settings.lifetimes,
        hashing: HashingConfig {
            memory_kib: passwords.memory_kib,
            iterations: passwords.iterations,
            threads: hash_threads(passwords.hash_threads),
            queue: passwords.hash_queue,
            foreign_memory: passwords.foreign_memory,
        },
        limits: settings.limits,
        search_engine: features.search_engine,
        has_mail_transport: has_mail_transport(settings),
        notifies_owners: features.security_notifications,
        mail_from: mail_from(settings)?,
        mail_retries: mail_retries(settings.mail.transport),
        access: AccessKeys {
            admin: admin_keys.into_iter().flatten().map(hash_of).collect(),
            anonymous: auth.anon_key.as_ref().map(|key| TokenHash::of(key.as_bytes())),
            require_anonymous: auth.require_anon_key,
        },
        relying_party: settings.relying_party(),
        operators: OperatorRules {
            protect: settings.console.protect_operators,
            require_second_factor: settings.console.require_second_factor,
            providers: settings.console.provider_keys(),
        },
    })
}

/// Returns the number of hashing threads; 0 means one per core.
fn hash_threads(threads: usize) -> NonZeroUsize {
    let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    NonZeroUsize::new(threads).unwrap_or_else(cores)
}

/// Returns the retry policy of mails. The file transport takes only moments, so its lease is short: the time for
/// which a sender reserves a mail in the outbox.
fn mail_retries(transport: MailTransport) -> MailRetries {
    match transport {
        MailTransport::File => MailRetries { lease: Duration::from_secs(10), ..MailRetries::default() },
        MailTransport::Smtp | MailTransport::None => MailRetries::default(),
    }
}

pub(crate) fn mail_from(settings: &Settings) -> Result<Mailbox, WiringError> {
    let refuse = |reason: String| WiringError::Mail { key: "mail.from", reason };
    let text = match &settings.mail.from {
        Some(sender) if settings.scope == Scope::Service => match &sender.name {
            Some(name) => format!("{name} <{}>", sender.address),
            None => sender.address.clone(),
        },
        _ => "latchkey@localhost".to_owned(),
    };
    Mailbox::parse(&text).map_err(|error| refuse(error.to_string()))
}
