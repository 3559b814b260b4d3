//! State that instances share and that may change at any time: settings, identity providers and signing keys. Other
//! instances, and the command line beside a running service, change it through the database; a version tells.

use std::sync::Arc;

use tokio::sync::Mutex;

use crate::error::Result;
use crate::kernel::Kernel;
use crate::providers::ProviderRegistry;
use crate::settings::BaseSettings;
use crate::tokens::AccessTokens;

/// The shared state in force on this instance; the settings among it are in the kernel.
pub struct Shared {
    pub(crate) kernel: Arc<Kernel>,
    pub(crate) base_settings: BaseSettings,
    pub(crate) tokens: AccessTokens,
    pub(crate) providers: ProviderRegistry,
    pub(crate) reloading: Mutex<()>,
}

impl Shared {
    /// Reloads if settings, providers or keys changed elsewhere; returns `true` if they had.
    pub async fn sync(&self) -> Result<bool> {
        if self.kernel.store.shared_version().await? == self.kernel.settings.load().version {
            return Ok(false);
        }
        self.reload().await?;
        Ok(true)
    }

    /// Loads settings, providers and keys. One task at a time: a later read must not be overwritten by an earlier one, or
    /// the version would be that of other keys.
    pub(crate) async fn reload(&self) -> Result<()> {
        let _turn = self.reloading.lock().await;
        let store = &self.kernel.store;
        let stored = store.load_settings().await?;
        let keys = self.tokens.open(&store.list_signing_keys(self.kernel.now()).await?)?;
        let providers = self.providers.open(store.list_oauth_providers().await?)?;
        let settings = self.base_settings.in_force(&stored)?;
        self.providers.replace(providers);
        self.tokens.replace(keys);
        self.kernel.settings.store(Arc::new(settings));
        Ok(())
    }
}
