//! The settings: groups of items, read once at start and passed on as values.
//!
//! A file, the environment and the command line override the defaults of the items. All problems are reported at once.
//! Nothing is generated, created or opened here.

mod admin;
mod auth;
mod data;
mod features;
mod keys;
mod layers;
mod log;
mod log_format;
mod mail;
mod oauth;
mod origin;
mod passwords;
mod print;
mod proxies;
mod scope;
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

use latchkey_service::config::{Lifetimes, LimitsConfig};
use latchkey_service::settings::EditableSettings;
use latchkey_settings::{Entries, Entry, Fallback, Group, Groups, Item, Problems, Reader, text_of};
pub use latchkey_settings::{Problem, Secret, SettingsError, Source};

pub use admin::AdminSettings;
pub use auth::AuthSettings;
pub use data::DataSettings;
pub use features::FeatureSettings;
pub use keys::{DEFAULT_TOML, is_key_or_section};
pub use log::{LogFormat, LogSettings};
pub use log_format::log_format;
pub use mail::{MailSender, MailSettings, MailTransport, SmtpSettings};
pub use oauth::{OAuthSettings, ProviderSettings, Providers};
pub use passwords::PasswordSettings;
pub use scope::Scope;
pub use server::{Mode, ServerSettings};
pub use source::{ReadFile, Sources};
pub use storage::{PostgresSettings, StorageSettings, StorageUrl};
pub use suffixes::redirect_warnings;

use print::Shown;

/// Collects the groups: a field of [`Settings`] for each.
macro_rules! groups {
    ($($(#[$doc:meta])* $field:ident: $group:ty,)*) => {
        /// The validated settings of an operator.
        #[derive(Debug)]
        pub struct Settings {
            $($(#[$doc])* pub $field: $group,)*
            /// Identity providers, by key.
            pub providers: Providers,
            /// The part that was read and validated; the rest may be anything.
            pub scope: Scope,
            shown: BTreeMap<&'static str, Shown>,
            warnings: Vec<String>,
        }

        impl Settings {
            /// The items of all groups, in the order of the documentation.
            pub(super) const GROUPS: &[&[&[Item]]] = &[$(<$group as Groups>::GROUPS),*];

            fn read_groups(reader: &mut Reader<'_>, scope: Scope, shown: BTreeMap<&'static str, Shown>) -> Self {
                Self {
                    $($field: Groups::read_all(reader),)*
                    providers: oauth::read_providers(reader),
                    scope,
                    shown,
                    warnings: Vec::new(),
                }
            }
        }
    };
}

groups! {
    /// Address, connections and requests.
    server: ServerSettings,
    /// The database.
    storage: StorageSettings,
    /// The connection pool of PostgreSQL.
    postgres: PostgresSettings,
    /// The data folder.
    data: DataSettings,
    /// The mail transport.
    mail: MailSettings,
    /// The mail server.
    smtp: SmtpSettings,
    /// Settings that an admin may change.
    editable: EditableSettings,
    /// Tokens, codes and public calls.
    auth: AuthSettings,
    /// Requests to identity providers.
    oauth: OAuthSettings,
    /// Rate limits and attempts.
    limits: LimitsConfig,
    /// Lifetimes.
    lifetimes: Lifetimes,
    /// The cost of hashing.
    passwords: PasswordSettings,
    /// Switches of single features.
    features: FeatureSettings,
    /// The keys of the admin interface.
    admin: AdminSettings,
    /// Logging.
    log: LogSettings,
}

impl Settings {
    /// Merges the sources and validates the result.
    ///
    /// # Errors
    /// All unknown keys, wrong types, bad values and broken rules, each with its key, source and remedy.
    pub fn load(sources: Sources) -> Result<Self, SettingsError> {
        Self::load_for(sources, Scope::Service)
    }

    /// [`Settings::load`] for a command that uses a part of them; problems of the rest are not reported.
    ///
    /// # Errors
    /// As [`Settings::load`].
    pub fn load_for(sources: Sources, scope: Scope) -> Result<Self, SettingsError> {
        let (settings, problems) = Self::read_for(sources, scope);
        if problems.is_empty() { Ok(settings) } else { Err(problems.into()) }
    }

    /// The settings as far as they are readable, and all problems. A default replaces a bad value, so that the rest can
    /// be checked; a service must not start with problems.
    #[must_use]
    pub fn read(sources: Sources) -> (Self, Vec<Problem>) {
        Self::read_for(sources, Scope::Service)
    }

    fn read_for(sources: Sources, scope: Scope) -> (Self, Vec<Problem>) {
        let mut problems = Problems::default();
        let mut entries = layers::merge(sources, scope, &mut problems);
        let shown = print::shown(&entries);
        let mut settings = Self::read_groups(&mut Reader::new(&mut entries, &mut problems), scope, shown);
        settings.check(&mut problems);
        problems.leave_out(|key| scope.leaves_out(key));
        let (warnings, problems) = problems.into_parts();
        settings.warnings = warnings;
        (settings, problems)
    }

    /// The rules between keys.
    fn check(&self, problems: &mut Problems) {
        let Self { server, mail, .. } = self;
        server.check(problems);
        mail.check(&self.smtp, problems);
        auth::check_editable(&self.editable, server.mode, mail.transport, problems);
        self.auth.check(problems);
        auth::check_lifetimes(&self.lifetimes, problems);
        self.oauth.check(&self.providers, server.request_timeout, problems);
        self.passwords.check(server.mode, problems);
        auth::check_limits(&self.limits.passwords, problems);
        self.postgres.check(server.request_timeout, problems);
        self.admin.check(server.secret.as_ref(), problems);
    }

    /// A file, the environment or the command line sets this key (`section.key`), so that it cannot change at run
    /// time (409 `SETTING_PINNED`). An unknown key is not pinned.
    #[must_use]
    pub fn pinned(&self, key: &str) -> bool {
        self.shown.get(key).is_some_and(|shown| shown.source.pins())
    }

    /// The editable keys that are pinned.
    pub fn pinned_keys(&self) -> impl Iterator<Item = &'static str> {
        EditableSettings::ITEMS.iter().map(|item| item.name).filter(|key| self.pinned(key))
    }

    /// The settings in force as TOML, with the source of each as a comment and secrets as `***`.
    #[must_use]
    pub fn to_toml(&self) -> String {
        print::to_toml(&self.shown)
    }

    /// Shows these values of the database in place of the configured ones.
    pub fn show_of_admin(&mut self, values: impl IntoIterator<Item = (&'static str, serde_json::Value)>) {
        self.shown.extend(values.into_iter().map(|(key, value)| (key, Shown::of_admin(&value))));
    }

    /// Warnings about settings that are valid and probably a mistake, for the log and `config check`.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        warnings::of(self)
    }

    /// Adds a warning.
    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// The files that hold secrets, with their keys: settings files, and those that variables name.
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

    /// Puts the bound port into a public URL that is derived from `server.bind`; port 0 takes any free port.
    #[must_use]
    pub fn bound_to(mut self, address: SocketAddr) -> Self {
        if !self.pinned("server.public_url") {
            // Fails only for URLs without a host; a derived one has a host.
            let _ = self.server.public_url.set_port(Some(address.port()));
        }
        self
    }
}

/// Fills in derived defaults, in the order of the items: one may follow from another above it.
fn derive(entries: &mut Entries) {
    for item in keys::ITEMS.iter().filter(|item| !entries.contains_key(item.name)).collect::<Vec<_>>() {
        if let Fallback::Derived(from, _) = item.fallback
            && let Some(value) = from(entries)
        {
            entries.insert(item.name, Entry { value, source: Source::Derived });
        }
    }
}

fn in_development(entries: &Entries) -> bool {
    text_of(entries, "server.mode") == "development"
}

fn data_folder(entries: &Entries) -> &str {
    text_of(entries, "data.dir").trim_end_matches('/')
}
