//! State that all instances share and that can change at run time: settings, identity providers and signing keys. An
//! instance or the command line changes it in the database and increments a version, which every instance polls.

use std::sync::Arc;

use latchkey_domain::locale::Locale;
use tokio::sync::Mutex;

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::providers::ProviderRegistry;
use crate::secrets::WrongSecret;
use crate::settings::BaseSettings;
use crate::tokens::AccessTokens;

/// The state of this instance that is shared with others, except the settings, which are in the kernel.
pub struct Shared {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) base_settings: BaseSettings,
    /// The languages in which the service can send mails.
    pub locales: Vec<Locale>,
    pub(crate) tokens: AccessTokens,
    pub(crate) providers: ProviderRegistry,
    pub(crate) reloading: Mutex<()>,
}

impl Shared {
    /// Reloads the shared state if the version in the database differs from the loaded one; returns `true` after a
    /// reload.
    pub async fn sync(&self) -> Result<bool> {
        if self.kernel.store.shared_version().await? == self.kernel.settings.load().version {
            return Ok(false);
        }
        self.reload().await?;
        Ok(true)
    }

    /// Loads settings, providers and keys from the database, and replaces those in use. Only one task reloads at a
    /// time, because a slow read of old values could otherwise overwrite newer ones.
    pub(crate) async fn reload(&self) -> Result<()> {
        let _turn = self.reloading.lock().await;
        let store = &self.kernel.store;
        let stored = store.load_settings().await?;
        if store.unfinished_secret_rotation().await?.is_some() {
            return Err(Error::internal(WrongSecret::Unfinished));
        }
        let keys = self.tokens.open(&store.list_signing_keys(self.kernel.now()).await?)?;
        let providers = self.providers.open(store.list_oauth_providers().await?)?;
        let settings = self.base_settings.in_force(&stored)?;
        self.providers.replace(providers);
        self.tokens.replace(keys);
        self.kernel.settings.store(Arc::new(settings));
        Ok(())
    }
}
