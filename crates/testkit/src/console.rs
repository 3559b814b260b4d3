//! Console of operators in a test.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ipnet::IpNet;
use latchkey_domain::identity::ProviderKey;
use latchkey_service::secrets::{KeyUse, ServerSecret};
use url::Url;

use crate::builder::TestAppBuilder;
use crate::instance::SECRET;

/// Console of a test.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConsolePlan {
    /// `None` for the URL of the service.
    pub(crate) public_url: Option<Url>,
    pub(crate) allowed_networks: Vec<IpNet>,
    /// The listener that the test talks to, if the console has its own.
    pub(crate) listener: Option<Listener>,
}

/// Listener that a test talks to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listener {
    /// That of API and pages.
    Main,
    /// That of the console.
    Console,
}

impl TestAppBuilder {
    /// Serves the console of operators.
    #[must_use]
    pub fn console(self) -> Self {
        self.change_console(|_| {})
    }

    /// Serves the console at another URL.
    #[must_use]
    pub fn console_at(mut self, public_url: &str) -> Self {
        self.config.site.console_url = public_url.parse().unwrap();
        self.change_console(|console| console.public_url = Some(public_url.parse().unwrap()))
    }

    /// Serves the console to clients in these networks alone.
    #[must_use]
    pub fn console_for(self, networks: &[&str]) -> Self {
        let networks = networks.iter().map(|network| network.parse().unwrap()).collect();
        self.change_console(|console| console.allowed_networks = networks)
    }

    /// Gives the console a listener of its own. The test talks to `listener`.
    #[must_use]
    pub fn console_apart(self, listener: Listener) -> Self {
        self.change_console(|console| console.listener = Some(listener))
    }

    /// Lets operators in through these providers.
    #[must_use]
    pub fn console_providers(mut self, keys: &[&str]) -> Self {
        self.config.operators.providers = keys.iter().map(|key| ProviderKey::parse(key).unwrap()).collect();
        self.console()
    }

    fn change_console(mut self, change: impl FnOnce(&mut ConsolePlan)) -> Self {
        change(self.console.get_or_insert_default());
        self
    }
}

/// Computes the token of a form of the console: that of a page which shows no form, because the role permits none. `scope`
/// is the session and its user, joined by a dot.
#[must_use]
pub fn form_token(browser_secret: &str, path: &str, scope: &str) -> String {
    let secret = ServerSecret::new(SECRET.to_vec()).unwrap();
    let key = secret.hmac_key(KeyUse::PageForms).unwrap();
    let message = format!("{browser_secret}{path}\n{scope}");
    URL_SAFE_NO_PAD.encode(hmac::sign(&key, message.as_bytes()))
}
