//! The table of all keys and their types. What they mean stands in `latchkey.default.toml`.

use latchkey_domain::identity::ProviderKey;

use Kind::{Address, Boolean, Choice, Duration, DurationOrZero, List, Rate, Secret, Text};

/// The settings that admins can change at run time unless they are pinned.
pub const EDITABLE: &[&str] = &[
    "auth.require_email_verification",
    "auth.verify_email_method",
    "auth.reset_password_method",
    "auth.allowed_redirect_urls",
    "auth.default_redirect_url",
    "auth.disable_sign_up",
    "passwords.min_length",
    "passwords.require_number",
    "passwords.require_lowercase",
    "passwords.require_uppercase",
    "passwords.require_special_char",
];

/// The type of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Choice(&'static [&'static str]),
    Boolean,
    /// A whole number within these bounds, both included.
    Integer {
        from: u64,
        to: u64,
    },
    /// Texts.
    List,
    /// Longer than zero.
    Duration,
    DurationOrZero,
    Rate,
    /// A text that is never shown.
    Secret,
    /// A text in which a password may stand, which is never shown.
    Address,
}

impl Kind {
    /// What a value must be, to end a sentence.
    pub(super) fn wanted(self) -> String {
        match self {
            Text | Secret | Address => "a text".to_owned(),
            Choice(choices) => {
                let quoted: Vec<_> = choices.iter().map(|choice| format!("{choice:?}")).collect();
                quoted.join(" or ")
            }
            Boolean => "true or false".to_owned(),
            Self::Integer { from, to } => format!("a whole number from {from} to {to}"),
            List => "a list of texts".to_owned(),
            Duration => "a duration above zero, such as 500ms, 30s, 15m, 24h or 90d".to_owned(),
            DurationOrZero => "a duration, such as 0s, 500ms, 30s, 15m, 24h or 90d".to_owned(),
            Rate => "a rate, such as 10/15m (ten in fifteen minutes)".to_owned(),
        }
    }

    /// Whether TOML has a type of its own for it, so that a text is wrong there.
    pub(super) fn is_strict(self) -> bool {
        matches!(self, Boolean | Self::Integer { .. } | List)
    }

    pub(super) fn allows(self, number: u64) -> bool {
        matches!(self, Self::Integer { from, to } if (from..=to).contains(&number))
    }
}

/// A setting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// `section.key`.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

const fn key(name: &'static str, kind: Kind) -> Key {
    Key { name, kind }
}

const fn number(name: &'static str, from: u64, to: u64) -> Key {
    Key { name, kind: Kind::Integer { from, to } }
}

const PROOF: Kind = Choice(&["code", "link"]);

/// Every key there is, in the order in which they are shown.
pub(super) const KEYS: &[Key] = &[
    key("server.mode", Choice(&["development", "production"])),
    key("server.bind", Text),
    key("server.public_url", Text),
    key("server.allow_http", Boolean),
    key("server.secret", Secret),
    key("server.service_name", Text),
    key("server.cors_origins", List),
    key("server.cors_headers", List),
    key("server.cross_site_apps", Boolean),
    key("server.cookie_name", Text),
    key("server.trusted_proxies", List),
    key("server.first_byte_timeout", Duration),
    key("server.header_read_timeout", Duration),
    key("server.body_timeout", Duration),
    key("server.request_timeout", Duration),
    key("server.drain_timeout", DurationOrZero),
    number("server.max_connections", 1, 1_000_000),
    number("server.max_requests", 1, 1_000_000),
    number("server.max_body_kib", 1, 16_384),
    number("server.max_profile_body_kib", 1, 16_384),
    key("storage.url", Address),
    key("storage.create", Boolean),
    key("storage.sqlite_snapshot_reuse", Boolean),
    number("storage.postgres.pool_size", 0, 10_000),
    key("storage.postgres.statement_timeout", Duration),
    key("storage.postgres.acquire_timeout", Duration),
    key("storage.postgres.connect_timeout", Duration),
    key("storage.postgres.idle_timeout", Duration),
    key("storage.postgres.prepared_statements", Choice(&["never", "named"])),
    key("storage.postgres.ca_file", Text),
    key("storage.postgres.listen", Boolean),
    key("data.dir", Text),
    key("mail.transport", Choice(&["smtp", "file", ""])),
    key("mail.dir", Text),
    key("mail.from", Text),
    key("mail.templates_dir", Text),
    key("mail.smtp.host", Text),
    number("mail.smtp.port", 1, 65_535),
    key("mail.smtp.username", Text),
    key("mail.smtp.password", Secret),
    key("mail.smtp.tls", Choice(&["starttls", "tls", "none", "plain"])),
    key("mail.smtp.ca_file", Text),
    key("mail.smtp.timeout", Duration),
    key("notifications.account", Boolean),
    key("auth.require_email_verification", Boolean),
    key("auth.verify_email_method", PROOF),
    key("auth.reset_password_method", PROOF),
    key("auth.allowed_redirect_urls", List),
    key("auth.default_redirect_url", Text),
    key("auth.redirect_param_prefix", Text),
    key("auth.disable_sign_up", Boolean),
    key("auth.anon_key", Text),
    key("auth.require_anon_key", Boolean),
    key("auth.access_token_ttl", Duration),
    key("auth.refresh_idle_ttl", Duration),
    key("auth.refresh_absolute_ttl", Duration),
    key("auth.refresh_grace", DurationOrZero),
    key("auth.jwt_audience", Text),
    key("auth.jwt_algorithm", Choice(&["ES256", "EdDSA"])),
    key("auth.key_rotation_interval", DurationOrZero),
    key("auth.code_ttl", Duration),
    number("auth.code_attempts", 1, 100),
    number("auth.code_attempts_per_hour", 1, 1000),
    number("auth.code_attempts_per_day", 1, 10_000),
    key("auth.verify_link_ttl", Duration),
    key("auth.reset_link_ttl", Duration),
    key("auth.reset_token_ttl", Duration),
    key("auth.pending_ttl", Duration),
    key("oauth.allow_private_networks", Boolean),
    key("oauth.proxy", Secret),
    key("oauth.ca_file", Text),
    key("oauth.timeout", Duration),
    key("oauth.state_ttl", Duration),
    key("oauth.code_ttl", Duration),
    number("passwords.min_length", 8, 128),
    key("passwords.require_number", Boolean),
    key("passwords.require_lowercase", Boolean),
    key("passwords.require_uppercase", Boolean),
    key("passwords.require_special_char", Boolean),
    number("passwords.memory_kib", 8, 4_194_304),
    number("passwords.iterations", 1, 100),
    number("passwords.hash_threads", 0, 1024),
    number("passwords.hash_queue", 1, 65_536),
    key("limits.enabled", Boolean),
    key("limits.sign_in_per_account_and_address", Rate),
    key("limits.sign_in_first_delay", Duration),
    key("limits.sign_in_longest_delay", Duration),
    key("limits.sign_in_per_account", Rate),
    key("limits.sign_in_known_address_age", Duration),
    key("limits.sign_in_per_address", Rate),
    key("limits.sign_up_per_address", Rate),
    key("limits.mail_pause_per_recipient", Duration),
    key("limits.mail_per_recipient", Rate),
    key("limits.mail_per_address", Rate),
    key("limits.verification_per_address", Rate),
    key("limits.refresh_per_address", Rate),
    key("limits.search_per_address", Rate),
    key("limits.csrf_per_address", Rate),
    key("limits.oauth_per_address", Rate),
    key("limits.admin_failures_per_address", Rate),
    key("profiles.create_on_sign_up", Boolean),
    key("search.engine", Choice(&["memory", "database"])),
    key("admin.api_key", Secret),
    key("admin.api_key_next", Secret),
    key("audit.retention", Duration),
    key("log.format", Choice(&["text", "json"])),
    key("log.level", Text),
];

/// The beginning of the names of a provider's keys: `oauth.providers.google.client_id`.
pub(super) const PROVIDERS: &str = "oauth.providers.";

/// The keys of every provider, in the order in which they are documented.
pub(super) const PROVIDER_KEYS: &[Key] = &[
    key("client_id", Text),
    key("client_secret", Secret),
    key("scopes", List),
    key("native_client_ids", List),
    key("link_by_email", Boolean),
    key("discovery_endpoint", Text),
    key("name", Text),
    key("tenant", Text),
    key("team_id", Text),
    key("key_id", Text),
    key("private_key", Secret),
];

/// The key of this name.
pub(super) fn find(name: &str) -> Option<Key> {
    KEYS.iter().copied().find(|key| key.name == name).or_else(|| provider_key(name))
}

/// A key of a provider. Its name is made here and kept for good: names of keys live as long as the process, and the
/// settings are read once.
fn provider_key(name: &str) -> Option<Key> {
    let field = provider_field(name)?;
    Some(Key { name: Box::leak(name.to_owned().into_boxed_str()), ..field })
}

fn provider_field(name: &str) -> Option<Key> {
    let (provider, field) = name.strip_prefix(PROVIDERS)?.split_once('.')?;
    ProviderKey::parse(provider).ok()?;
    PROVIDER_KEYS.iter().copied().find(|key| key.name == field)
}

/// Whether this is the name of a setting, or of a section of them.
#[must_use]
pub fn is_key_or_section(name: &str) -> bool {
    KEYS.iter().any(|key| key.name == name) || provider_field(name).is_some() || is_section(name)
}

/// Whether this is a section: `mail`, `mail.smtp`, `oauth.providers.google`.
pub(super) fn is_section(name: &str) -> bool {
    if let Some(provider) = format!("{name}.").strip_prefix(PROVIDERS) {
        let provider = provider.trim_end_matches('.');
        return provider.is_empty() || ProviderKey::parse(provider).is_ok();
    }
    KEYS.iter().any(|key| section_of(key.name) == name || key.name.starts_with(&format!("{name}.")))
}

/// The section of a key: `mail.smtp` of `mail.smtp.host`.
pub(super) fn section_of(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(section, _)| section)
}

/// The known key that looks most like this one; `None` where none does.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let likeness = |key: &Key| {
        let whole = strsim::normalized_damerau_levenshtein(name, key.name);
        // The right key in the wrong section is the likelier slip than another key here.
        let in_another_section = if last(name) == last(key.name) { 0.95 } else { 0.0 };
        whole.max(in_another_section)
    };
    KEYS.iter()
        .map(|key| (likeness(key), key.name))
        .filter(|(likeness, _)| *likeness >= 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
