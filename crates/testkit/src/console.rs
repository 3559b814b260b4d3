//! Console of operators in a test.

use ipnet::IpNet;
use url::Url;

use crate::builder::TestAppBuilder;

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

    fn change_console(mut self, change: impl FnOnce(&mut ConsolePlan)) -> Self {
        change(self.console.get_or_insert_default());
        self
    }
}
