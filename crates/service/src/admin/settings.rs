//! Reading and changing the editable settings at run time.

use latchkey_domain::audit::AuditKind;
use latchkey_domain::client::Client;
use latchkey_domain::identity::ProviderKind;
use latchkey_domain::locale::Locale;
use latchkey_domain::operator::Party;
use latchkey_settings::Item;
use latchkey_store::SettingChange;
use serde_json::Value;
use std::sync::Arc;

use super::Admin;
use crate::error::Result;
use crate::settings::{EditableSetting, EmailSignIn, SettingsInForce, SettingsPatch};

/// The current settings and the offered identity providers, for the public and the admin endpoint of settings.
#[derive(Debug, Clone)]
pub struct PublicSettings {
    pub in_force: Arc<SettingsInForce>,
    /// Short names, as in URLs, of the built-in identity providers that have credentials.
    pub oauth_providers: Vec<String>,
    /// Short names, as in URLs, of the custom identity providers.
    pub custom_oauth_providers: Vec<String>,
    /// True if users can register passkeys and sign in with them.
    pub passkeys: bool,
    /// Sign-in by mail: the setting, or `Off` if no mail transport is configured.
    pub email_sign_in: EmailSignIn,
    /// The languages in which the service can send mails.
    pub locales: Vec<Locale>,
}

impl Admin {
    #[must_use]
    pub fn public_settings(&self) -> PublicSettings {
        PublicSettings {
            in_force: self.kernel.settings(),
            oauth_providers: self.shared.providers.load().offered_of(ProviderKind::BuiltIn),
            custom_oauth_providers: self.shared.providers.load().offered_of(ProviderKind::Custom),
            passkeys: self.passkeys.is_offered(),
            email_sign_in: self.kernel.email_sign_in(),
            locales: self.shared.locales.clone(),
        }
    }

    /// Lists the editable settings with their values in force, defaults and sources.
    #[must_use]
    pub fn list_settings(&self) -> Vec<EditableSetting> {
        self.shared.base_settings.list(&self.kernel.settings.load(), &self.shared.locales)
    }

    /// Checks a change of settings without making it.
    pub fn check_settings(&self, patch: &SettingsPatch) -> Result<()> {
        let current = self.kernel.settings.load();
        self.shared.base_settings.accept(&current.values, patch, &self.shared.locales).map(|_| ())
    }

    /// Sets a setting to its default again, so that later changes of the default act on it.
    pub async fn reset_setting(&self, item: &Item, party: Party, client: Option<&Client>) -> Result<()> {
        self.shared.sync().await?;
        let change = self.shared.base_settings.accept_reset(&self.kernel.settings.load().values, item)?;
        self.save_settings(&[change], party, client).await
    }

    /// Reads the settings that another instance may have changed.
    pub async fn sync_settings(&self) -> Result<()> {
        self.shared.sync().await?;
        Ok(())
    }

    /// Changes settings. The change takes effect on this instance at once, on others within a second.
    pub async fn change_settings(
        &self,
        patch: &SettingsPatch,
        party: Party,
        client: Option<&Client>,
    ) -> Result<PublicSettings> {
        self.shared.sync().await?;
        let changes = self.shared.base_settings.accept(
            &self.kernel.settings.load().values,
            patch,
            &self.shared.locales,
        )?;
        if !changes.is_empty() {
            self.save_settings(&changes, party, client).await?;
        }
        Ok(self.public_settings())
    }

    async fn save_settings(
        &self,
        changes: &[SettingChange],
        party: Party,
        client: Option<&Client>,
    ) -> Result<()> {
        let now = self.kernel.now();
        let mut event = self.kernel.event(AuditKind::SettingsChanged, party, client, now);
        let names: Vec<_> = changes.iter().map(|change| change.key.clone()).collect();
        event.details.insert("settings".to_owned(), Value::from(names));
        // The events of admin keys stay as they are for those who read them: with names alone.
        if matches!(party, Party::Operator(_)) {
            let current = self.kernel.settings.load();
            let (before, after) = self.shared.base_settings.told(&current.values, changes);
            event.details.insert("before".to_owned(), Value::Object(before));
            event.details.insert("after".to_owned(), Value::Object(after));
        }
        self.kernel.store.save_settings(changes, event, now).await?;
        self.shared.reload().await
    }
}
