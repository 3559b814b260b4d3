//! The state that all pages of the console share.

use std::ops::Deref;
use std::sync::Arc;

use ipnet::IpNet;
use latchkey_http::cookies::Cookie;
use latchkey_http::settings::{HttpSettings, RouterState};
use latchkey_pages::Assets;
use latchkey_service::Service;
use latchkey_service::entropy::Entropy;
use url::Url;

use crate::assets::HasAssets;
use crate::common::Common;
use crate::keys::PageKeys;

/// Where the console is, and who reaches it.
#[derive(Debug, Clone)]
pub struct Entry {
    /// URL under which browsers reach the console (`console.public_url`).
    pub public_url: Url,
    /// Networks of the clients that may open it; empty for all (`console.allowed_networks`).
    pub allowed_networks: Vec<IpNet>,
    /// True if it has a listener of its own (`console.bind`).
    pub has_own_listener: bool,
}

/// What the console is built from.
pub struct ConsoleParts {
    pub service: Arc<Service>,
    /// HTTP settings of the service. The console has its own public URL in place of theirs.
    pub settings: Arc<HttpSettings>,
    /// Templates.
    pub templates: Arc<latchkey_pages::console::Console>,
    pub entropy: Arc<dyn Entropy>,
    pub keys: Arc<PageKeys>,
    pub entry: Entry,
    /// True if passkeys work under the console's URL.
    pub has_passkeys: bool,
    /// Warnings about the settings, as `config check` prints them.
    pub warnings: Vec<String>,
}

/// The state that all handlers of the console share. Cloning it is cheap.
#[derive(Clone)]
pub struct Console {
    common: Common,
    pub(crate) templates: Arc<latchkey_pages::console::Console>,
    pub(super) entry: Arc<Entry>,
    /// The cookie of the console session.
    pub(super) session_cookie: Cookie,
    has_passkeys: bool,
    warnings: Arc<[String]>,
}

impl Console {
    #[must_use]
    pub fn new(parts: ConsoleParts) -> Self {
        let public_url = parts.entry.public_url.clone();
        let settings = HttpSettings { public_url, ..(*parts.settings).clone() };
        let settings = Arc::new(settings);
        Self {
            session_cookie: Cookie::of_console(&settings, "latchkey_console"),
            common: Common::new(parts.service, settings, parts.entropy, parts.keys),
            templates: parts.templates,
            entry: Arc::new(parts.entry),
            has_passkeys: parts.has_passkeys,
            warnings: parts.warnings.into(),
        }
    }

    pub(crate) const fn has_passkeys(&self) -> bool {
        self.has_passkeys
    }

    pub(super) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    pub(crate) fn has_own_listener(&self) -> bool {
        self.entry.has_own_listener
    }
}

impl Deref for Console {
    type Target = Common;

    fn deref(&self) -> &Common {
        &self.common
    }
}

impl HasAssets for Console {
    fn assets(&self) -> &Assets {
        self.templates.assets()
    }
}

impl RouterState for Console {
    fn http_settings(&self) -> &HttpSettings {
        &self.settings
    }
}
