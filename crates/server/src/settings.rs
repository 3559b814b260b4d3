//! Settings of an operator, declared as structs with one field per setting. A value on the command line takes
//! precedence over the environment, the environment over the settings file, and the file over the default. The
//! settings are read once at the start and passed on as values.
//!
//! All problems are reported at once. This module reads settings files and files with secrets. It
//! creates no file, and opens neither database nor socket.

mod admin;
mod auth;
mod backup;
mod command_line;
mod console;
mod data;
mod features;
mod keys;
mod layers;
mod log;
mod log_format;
mod mail;
mod metrics;
mod oauth;
mod origin;
mod pages;
mod passkeys;
mod passwords;
mod print;
mod proxies;
mod scope;
mod server;
mod source;
mod storage;
mod strength;
mod suffixes;
mod traces;
mod variables;
mod warnings;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use latchkey_service::settings::EditableSettings;
use latchkey_service::{Lifetimes, LimitsConfig};
use latchkey_settings::{Entries, Entry, Fallback, Group, Groups, Item, Problems, Reader, Value, text_of};
pub use latchkey_settings::{Problem, Secret, SettingsError, Source};

pub use admin::AdminSettings;
pub use auth::AuthSettings;
pub use backup::BackupSettings;
pub(crate) use command_line::quoted;
pub use console::ConsoleSettings;
pub use data::DataSettings;
pub use features::FeatureSettings;
pub use keys::{DEFAULT_TOML, is_key_or_section};
pub use log::{LogFormat, LogSettings};
pub use log_format::log_format;
pub use mail::{MailSender, MailSettings, MailTransport, SmtpSettings};
pub use metrics::MetricsSettings;
pub use oauth::{OAuthSettings, ProviderSettings, Providers};
pub use pages::{PageLinks, PageSettings, PageTheme};
pub use passkeys::{PasskeySettings, passkey_origin_warnings};
pub use passwords::PasswordSettings;
pub use scope::Scope;
pub use server::{Mode, ServerSettings};
pub use source::{ReadFile, Sources};
pub use storage::{PostgresSettings, StorageSettings, StorageUrl};
pub use suffixes::redirect_warnings;
pub use traces::TraceSettings;

use print::Shown;

/// Declares [`Settings`] with one field per group.
macro_rules! groups {
    ($($(#[$doc:meta])* $field:ident: $group:ty,)*) => {
        /// Validated settings of an operator.
        #[derive(Debug)]
        pub struct Settings {
            $($(#[$doc])* pub $field: $group,)*
            /// Identity providers of the settings, by key (`oauth.providers.KEY`).
            pub providers: Providers,
            /// Part of the settings that was read and validated. Values of other parts may be wrong and must not be
            /// used.
            pub scope: Scope,
            /// Settings file that `--config` named.
            pub config: Option<PathBuf>,
            shown: BTreeMap<&'static str, Shown>,
            warnings: Vec<String>,
        }

        impl Settings {
            /// Items of all groups, in the order of the documentation.
            pub(super) const GROUPS: &[&[&[Item]]] = &[$(<$group as Groups>::GROUPS),*];

            fn read_groups(reader: &mut Reader<'_>, scope: Scope, shown: BTreeMap<&'static str, Shown>) -> Self {
                Self {
                    $($field: Groups::read_all(reader),)*
                    providers: oauth::read_providers(reader),
                    scope,
                    config: None,
                    shown,
                    warnings: Vec::new(),
                }
            }
        }
    };
}

groups! {
    server: ServerSettings,
    storage: StorageSettings,
    postgres: PostgresSettings,
    data: DataSettings,
    backup: BackupSettings,
    mail: MailSettings,
    smtp: SmtpSettings,
    /// Settings that an admin may change at run time, with their configured values.
    editable: EditableSettings,
    auth: AuthSettings,
    oauth: OAuthSettings,
    limits: LimitsConfig,
    pages: PageSettings,
    page_links: PageLinks,
    /// Theme of the pages.
    theme: PageTheme,
    console: ConsoleSettings,
    lifetimes: Lifetimes,
    passkeys: PasskeySettings,
    passwords: PasswordSettings,
    features: FeatureSettings,
    admin: AdminSettings,
    log: LogSettings,
    metrics: MetricsSettings,
    traces: TraceSettings,
}

impl Settings {
    /// Merges the sources and validates the result.
    ///
    /// # Errors
    /// All unknown keys, wrong types, bad values and broken rules, each with its key, source and remedy.
    pub fn load(sources: Sources) -> Result<Self, SettingsError> {
        Self::load_for(sources, Scope::Service)
    }

    /// Merges and validates like [`Settings::load`], for a command that uses only a part of the settings. Problems
    /// outside the scope are not reported.
    ///
    /// # Errors
    /// All problems within the scope.
    pub fn load_for(sources: Sources, scope: Scope) -> Result<Self, SettingsError> {
        let (settings, problems) = Self::read_for(sources, scope);
        if problems.is_empty() { Ok(settings) } else { Err(problems.into()) }
    }

    /// Reads the settings as far as possible, and returns all problems with them. A default replaces each bad value, so
    /// that the rest can be checked. A service must not start if there are problems.
    #[must_use]
    pub fn read(sources: Sources) -> (Self, Vec<Problem>) {
        Self::read_for(sources, Scope::Service)
    }

    fn read_for(sources: Sources, scope: Scope) -> (Self, Vec<Problem>) {
        let mut problems = Problems::default();
        let config = sources.config.clone();
        let mut entries = layers::merge(sources, scope, &mut problems);
        let shown = print::shown(&entries);
        let mut settings = Self::read_groups(&mut Reader::new(&mut entries, &mut problems), scope, shown);
        settings.config = config;
        settings.check(&mut problems);
        problems.leave_out(|key| scope.leaves_out(key));
        let (warnings, problems) = problems.into_parts();
        settings.warnings = warnings;
        (settings, problems)
    }

    /// Checks the rules that involve several keys, such as a timeout that must be shorter than another.
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
        self.backup.check(&self.storage.url, problems);
        self.admin.check(server.secret.as_ref(), problems);
        self.console.check(server, &self.providers, problems);
        self.metrics.check(server, &self.console, problems);
    }

    /// True if a file, the environment or the command line sets this key (`section.key`). An admin cannot change it
    /// then (409 `SETTING_PINNED`). Unknown keys are not pinned.
    #[must_use]
    pub fn pinned(&self, key: &str) -> bool {
        self.shown.get(key).is_some_and(|shown| shown.source.pins())
    }

    /// True if the command line sets this key.
    #[must_use]
    pub fn is_on_command_line(&self, key: &str) -> bool {
        self.shown.get(key).is_some_and(|shown| shown.source == Source::CommandLine)
    }

    /// Returns the keys that an admin may change in general, but not here, because they are pinned (see
    /// [`Self::pinned`]), each with what sets it.
    pub fn pinned_keys(&self) -> impl Iterator<Item = (&'static str, Source)> {
        let keys = EditableSettings::ITEMS.iter().map(|item| item.name);
        let sources = keys.filter_map(|key| Some((key, self.shown.get(key)?.source.clone())));
        sources.filter(|(_, source)| source.pins())
    }

    /// Formats the settings in force as TOML, with the source of each as a comment and secrets as `***`.
    #[must_use]
    pub fn to_toml(&self) -> String {
        print::to_toml(&self.shown)
    }

    /// Returns the settings in force by key, each with its source, without secrets.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        print::to_json(&self.shown)
    }

    /// Replaces configured values by those that an admin stored in the database, for the output of
    /// [`Settings::to_toml`].
    pub fn show_of_admin(&mut self, values: impl IntoIterator<Item = (&'static str, serde_json::Value)>) {
        self.shown.extend(values.into_iter().map(|(key, value)| (key, Shown::of_admin(&value))));
    }

    /// Returns warnings about settings that are valid but probably a mistake, for the log and `config check`.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        warnings::of(self)
    }

    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Returns the files that hold secrets, with the keys that they set: settings files, and files named by `…_FILE`
    /// variables.
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

    /// Sets the port of the public URL to the bound one, if the URL is derived from `server.bind`. They differ if port
    /// 0 was configured, which takes any free port. The same holds for the console; `console` is the address of its own
    /// listener.
    #[must_use]
    pub fn bound_to(mut self, address: SocketAddr, console: Option<SocketAddr>) -> Self {
        if !self.pinned("server.public_url") {
            // Fails only for a URL without a host, and a derived URL has one.
            let _ = self.server.public_url.set_port(Some(address.port()));
        }
        if !self.pinned("console.public_url") {
            match console.filter(|_| self.server.is_development()) {
                Some(console) => {
                    let _ = self.console.public_url.set_port(Some(console.port())); // as above
                }
                None => self.console.public_url.clone_from(&self.server.public_url),
            }
        }
        self
    }
}

/// Computes derived defaults, in the order of the items, because a default may depend on one that is declared above it.
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

/// Default of what is on in development and off in production.
#[expect(clippy::unnecessary_wraps, reason = "the form of a derived default")]
fn only_in_development(entries: &Entries) -> Option<Value> {
    Some(Value::Boolean(in_development(entries)))
}

fn data_folder(entries: &Entries) -> &str {
    text_of(entries, "data.dir").trim_end_matches('/')
}
