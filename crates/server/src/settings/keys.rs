//! List of the declarations of all settings ([`Item`]), sorted by section, and the lookup of one by its key.

use std::sync::LazyLock;

use latchkey_domain::identity::ProviderKey;
use latchkey_settings::{Group, Item};

use super::Settings;
use super::oauth::ProviderSettings;

/// The declarations of all settings in the order of the documentation: by section. Sections have the order in which
/// they first occur in `Settings::GROUPS`.
pub(super) static ITEMS: LazyLock<Vec<Item>> = LazyLock::new(|| {
    let mut items: Vec<_> = Settings::GROUPS.iter().copied().flatten().copied().flatten().copied().collect();
    let mut sections: Vec<_> = items.iter().map(Item::section).collect();
    sections.dedup();
    items.sort_by_cached_key(|item| sections.iter().position(|section| *section == item.section()));
    items
});

/// Head of the default settings file, and its text about identity providers.
const HEAD: &str = include_str!("head.txt");
const PROVIDERS_HELP: &str = include_str!("providers.txt");

/// Default settings with their documentation, as TOML.
pub static DEFAULT_TOML: LazyLock<String> = LazyLock::new(|| {
    let mut text = HEAD.to_owned();
    for section in ITEMS.chunk_by(|one, next| one.section() == next.section()) {
        let name = section[0].section();
        text.extend(["\n[", name, "]\n"]);
        for (at, item) in section.iter().enumerate() {
            text.push_str(if at == 0 || item.doc.is_empty() { "" } else { "\n" });
            text.push_str(&item.documentation());
        }
        text.push_str(if name == "oauth" { PROVIDERS_HELP } else { "" });
    }
    text
});

/// Prefix of the keys of identity providers, such as `oauth.providers.google.client_id`.
pub(super) const PROVIDERS: &str = "oauth.providers.";

/// Finds the declaration of the setting with this key; the keys of identity providers are included.
pub(super) fn find(name: &str) -> Option<Item> {
    ITEMS.iter().copied().find(|item| item.name == name).or_else(|| provider_key(name))
}

/// Finds the declaration of an identity provider's setting, such as `oauth.providers.google.client_id`. The memory of
/// the name is leaked, because a declaration has a static name; settings are read only once.
fn provider_key(name: &str) -> Option<Item> {
    let field = provider_field(name)?;
    Some(Item { name: Box::leak(name.to_owned().into_boxed_str()), ..field })
}

fn provider_field(name: &str) -> Option<Item> {
    let (provider, field) = name.strip_prefix(PROVIDERS)?.split_once('.')?;
    ProviderKey::parse(provider).ok()?;
    ProviderSettings::ITEMS.iter().copied().find(|key| key.name == field)
}

/// True if this is a known key or section.
#[must_use]
pub fn is_key_or_section(name: &str) -> bool {
    ITEMS.iter().any(|key| key.name == name) || provider_field(name).is_some() || is_section(name)
}

/// True if this is a section, such as `mail`, `mail.smtp` or `oauth.providers.google`.
pub(super) fn is_section(name: &str) -> bool {
    if let Some(provider) = format!("{name}.").strip_prefix(PROVIDERS) {
        let provider = provider.trim_end_matches('.');
        return provider.is_empty() || ProviderKey::parse(provider).is_ok();
    }
    ITEMS.iter().any(|item| item.name.starts_with(&format!("{name}.")))
}

/// Returns the section of a key, such as `mail.smtp` for `mail.smtp.host`.
pub(super) fn section_of(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(section, _)| section)
}

/// Finds the known key that is most similar to an unknown one; `None` if none is similar enough.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let likeness = |key: &Item| {
        let whole = strsim::normalized_damerau_levenshtein(name, key.name);
        // The right name in a wrong section is a more probable mistake than a misspelt name.
        let in_another_section = if last(name) == last(key.name) { 0.95 } else { 0.0 };
        whole.max(in_another_section)
    };
    ITEMS
        .iter()
        .map(|key| (likeness(key), key.name))
        .filter(|(likeness, _)| *likeness >= 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
