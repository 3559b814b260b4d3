//! Editing the settings while the service runs.

use latchkey_domain::audit::{Actor, AuditKind};
use latchkey_domain::client::Client;
use latchkey_domain::identity::ProviderKind;
use serde_json::Value;
use std::sync::Arc;

use super::Admin;
use crate::error::Result;
use crate::settings::{SettingsInForce, SettingsPatch};

/// The public part of the settings.
#[derive(Debug, Clone)]
pub struct PublicSettings {
    /// The settings in force.
    pub in_force: Arc<SettingsInForce>,
    /// Keys of the built-in identity providers that are configured.
    pub oauth_providers: Vec<String>,
    /// Keys of the custom identity providers.
    pub custom_oauth_providers: Vec<String>,
}

impl Admin {
    /// The public part of the settings.
    #[must_use]
    pub fn public_settings(&self) -> PublicSettings {
        PublicSettings {
            in_force: self.kernel.settings(),
            oauth_providers: self.shared.providers.load().offered_of(ProviderKind::BuiltIn),
            custom_oauth_providers: self.shared.providers.load().offered_of(ProviderKind::Custom),
        }
    }

    /// Changes settings; in force here at once, on other instances within a second.
    pub async fn change_settings(
        &self,
        patch: &SettingsPatch,
        client: Option<&Client>,
    ) -> Result<PublicSettings> {
        let now = self.kernel.now();
        self.shared.sync().await?;
        let changes = self.shared.base_settings.accept(&self.kernel.settings.load().values, patch)?;
        if !changes.is_empty() {
            let mut event = self.kernel.event(AuditKind::SettingsChanged, Actor::Admin, client, now);
            let names: Vec<_> = changes.iter().map(|change| change.key.clone()).collect();
            event.details.insert("settings".to_owned(), Value::from(names));
            self.kernel.store.save_settings(&changes, event, now).await?;
            self.shared.reload().await?;
        }
        Ok(self.public_settings())
    }
}
