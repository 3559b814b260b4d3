//! The settings: one struct per section, read once at start and passed on as values.
//!
//! The embedded `latchkey.default.toml` documents every key and is the lowest layer. Over it come a
//! file, the environment and the command line. What is wrong is collected and told all at once.
//! Here lives only the reading; nothing is generated, created or opened.

mod address;
mod admin;
mod audit;
mod auth;
mod data;
mod derived;
mod duration;
mod entry;
mod keys;
mod layers;
mod limits;
mod log;
mod log_format;
mod mail;
mod notifications;
mod oauth;
mod origin;
mod passwords;
mod print;
mod problem;
mod profiles;
mod proxies;
mod reader;
mod scope;
mod search;
mod secret;
mod server;
mod source;
mod storage;
mod strength;
mod suffixes;
mod variables;
mod warnings;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

pub use admin::AdminSettings;
pub use audit::AuditSettings;
pub use auth::{AuthSettings, CodeSettings, JwtAlgorithm, LinkSettings, ProofMethod, TokenSettings};
pub use data::DataSettings;
pub use keys::{EDITABLE, is_key_or_section};
pub use limits::LimitSettings;
pub use log::{LogFormat, LogSettings};
pub use log_format::log_format;
pub use mail::{MailSender, MailSettings, MailTransport, SmtpSettings, SmtpTls};
pub use notifications::NotificationSettings;
pub use oauth::{OAuthSettings, ProviderSettings};
pub use passwords::PasswordSettings;
pub use problem::{Problem, SettingsError};
pub use profiles::ProfileSettings;
pub use scope::Scope;
pub use search::{SearchBy, SearchSettings};
pub use secret::Secret;
pub use server::{Mode, ServerSettings};
pub use source::{ReadFile, Source, Sources};
pub use storage::{PostgresSettings, StorageSettings, StorageUrl};
pub use suffixes::redirect_warnings;

use print::Shown;
use problem::Problems;
use reader::Reader;

/// The default settings with their documentation, as TOML.
pub const DEFAULT_TOML: &str = include_str!("../latchkey.default.toml");

/// Everything that an operator can set, validated.
#[derive(Debug)]
pub struct Settings {
    /// Where and how the service is reached.
    pub server: ServerSettings,
    /// The database.
    pub storage: StorageSettings,
    /// The folder for what the service writes.
    pub data: DataSettings,
    /// How mails leave.
    pub mail: MailSettings,
    /// Accounts, tokens, codes and links.
    pub auth: AuthSettings,
    /// Identity providers.
    pub oauth: OAuthSettings,
    /// Password rules and hashing.
    pub passwords: PasswordSettings,
    /// Rate limits.
    pub limits: LimitSettings,
    /// Profiles.
    pub profiles: ProfileSettings,
    /// Mails about acts on accounts.
    pub notifications: NotificationSettings,
    /// The profile search.
    pub search: SearchSettings,
    /// The admin interface.
    pub admin: AdminSettings,
    /// The audit trail.
    pub audit: AuditSettings,
    /// Logging.
    pub log: LogSettings,
    /// What was read and judged; the rest may be anything.
    pub scope: Scope,
    shown: BTreeMap<&'static str, Shown>,
    notices: Vec<String>,
}

impl Settings {
    /// Lays the sources over each other, and validates the result.
    ///
    /// # Errors
    /// Every unknown key, wrong type, bad value and broken rule at once, each with its key, its
    /// source and what to do.
    pub fn load(sources: Sources) -> Result<Self, SettingsError> {
        Self::load_for(sources, Scope::Service)
    }

    /// The same for a command that uses a part of them: what is wrong with the rest is not told.
    ///
    /// # Errors
    /// As [`Settings::load`].
    pub fn load_for(sources: Sources, scope: Scope) -> Result<Self, SettingsError> {
        match Self::read_for(sources, scope) {
            (Some(settings), problems) if problems.is_empty() => Ok(settings),
            (_, problems) => Err(problems.into()),
        }
    }

    /// The settings as far as they can be read, and everything that is wrong with them. A bad value is replaced, so
    /// that the rest can be looked at; no service may start with it.
    #[must_use]
    pub fn read(sources: Sources) -> (Option<Self>, Vec<Problem>) {
        Self::read_for(sources, Scope::Service)
    }

    fn read_for(sources: Sources, scope: Scope) -> (Option<Self>, Vec<Problem>) {
        let mut problems = Problems::default();
        let mut entries = layers::merge(sources, scope, &mut problems);
        derived::fill(&mut entries);
        let shown = print::shown(&entries);

        let mut reader = Reader::new(&mut entries, &mut problems);
        let mode = Mode::read(&reader);
        let server = ServerSettings::read(&mut reader, mode);
        let storage = StorageSettings::read(&mut reader);
        let data = DataSettings::read(&mut reader);
        let mail = MailSettings::read(&mut reader);
        let auth = AuthSettings::read(&mut reader);
        let oauth = OAuthSettings::read(&mut reader);
        let passwords = PasswordSettings::read(&reader);
        let limits = LimitSettings::read(&reader);
        let profiles = ProfileSettings::read(&reader);
        let notifications = NotificationSettings::read(&reader);
        let search = SearchSettings::read(&reader);
        let admin = AdminSettings::read(&mut reader, mode);
        let audit = AuditSettings::read(&reader);
        let log = LogSettings::read(&mut reader);

        mail.check(&mut problems);
        auth.check(mode, mail.transport, &mut problems);
        oauth.check(server.as_ref(), &mut problems);
        passwords.check(mode, &mut problems);
        limits.check(&mut problems);
        if let Some(server) = &server {
            storage.check(server.request_timeout, &mut problems);
        }
        let server_secret = server.as_ref().and_then(|server| server.secret.as_ref());
        admin.check(server_secret, &mut problems);

        problems.leave_out(|key| scope.leaves_out(key));
        let (notices, problems) = problems.into_parts();
        let settings = server.map(|server| Self {
            server,
            storage,
            data,
            mail,
            auth,
            oauth,
            passwords,
            limits,
            profiles,
            notifications,
            search,
            admin,
            audit,
            log,
            scope,
            shown,
            notices,
        });
        (settings, problems)
    }

    /// Whether a file, the environment or the command line sets this key (`section.key`), so that
    /// nobody can change it at run time (409 `SETTING_PINNED`). An unknown key is not pinned.
    #[must_use]
    pub fn pinned(&self, key: &str) -> bool {
        self.shown.get(key).is_some_and(|shown| shown.source.pins())
    }

    /// The [`EDITABLE`] keys that are pinned.
    pub fn pinned_keys(&self) -> impl Iterator<Item = &'static str> {
        EDITABLE.iter().copied().filter(|key| self.pinned(key))
    }

    /// The settings in force as TOML, each with its source as comment and secrets as `***`.
    #[must_use]
    pub fn to_toml(&self) -> String {
        print::to_toml(&self.shown)
    }

    /// Shows these values of the database as in force, in place of those that were configured.
    pub fn show_of_admin(&mut self, values: impl IntoIterator<Item = (&'static str, serde_json::Value)>) {
        self.shown.extend(values.into_iter().map(|(key, value)| (key, Shown::of_admin(&value))));
    }

    /// Settings that are allowed and yet probably not meant, as sentences for the log and `config check`.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        warnings::of(self)
    }

    /// Adds a warning that was found while the settings were tried.
    pub fn warn(&mut self, warning: String) {
        self.notices.push(warning);
    }

    /// The files that hold secrets, each with what it holds: settings files, and those that variables name.
    #[must_use]
    pub fn secret_files(&self) -> BTreeMap<&Path, Vec<&'static str>> {
        let mut files = BTreeMap::<_, Vec<_>>::new();
        for (name, shown) in &self.shown {
            let path = match &shown.source {
                Source::SecretFile(_, path) => path,
                Source::File(path) if shown.hides => path,
                _ => continue,
            };
            files.entry(path.as_path()).or_default().push(*name);
        }
        files
    }

    /// Puts the port that was really bound into the public URL, where that URL is not set but made
    /// of `server.bind`. Needed for port 0, which takes any free port.
    #[must_use]
    pub fn bound_to(mut self, address: SocketAddr) -> Self {
        if !self.pinned("server.public_url") {
            // Fails only for URLs without a host; a derived one has a host.
            let _ = self.server.public_url.set_port(Some(address.port()));
        }
        self
    }
}
