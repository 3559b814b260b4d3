//! The state that all pages share.

use std::sync::Arc;

use latchkey_http::cookies::Cookie;
use latchkey_http::settings::{HttpSettings, RouterState};
use latchkey_pages::{Assets, Pages};
use latchkey_service::Service;
use latchkey_service::entropy::Entropy;

use crate::assets::HasAssets;
use crate::console::Console;
use crate::keys::PageKeys;

/// The state that all handlers of pages share. Cloning it is cheap.
#[derive(Clone)]
pub struct Hosted {
    pub(crate) service: Arc<Service>,
    pub(crate) settings: Arc<HttpSettings>,
    /// Templates, languages and files.
    pub(crate) pages: Arc<Pages>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) keys: Arc<PageKeys>,
    pub(crate) cookies: Arc<Cookies>,
    /// URL of the console, for the start page; `None` if it is off.
    pub(crate) console: Option<Arc<str>>,
}

/// The cookies of the pages.
pub(crate) struct Cookies {
    /// The browser secret.
    pub(crate) browser: Cookie,
    /// The token of the page session.
    pub(crate) pages: Cookie,
    /// Digests of the tickets that led back to an app already.
    pub(crate) shown: Cookie,
    /// The token of a password reset, sealed.
    pub(crate) reset: Cookie,
    /// The token of a sign-in by a mailed link, sealed.
    pub(crate) sign_in_link: Cookie,
    /// The key of an authenticator app that is not confirmed, sealed.
    pub(crate) totp: Cookie,
    /// New recovery codes, sealed.
    pub(crate) codes: Cookie,
    /// The cookie of a sign-up, as in the API.
    pub(crate) sign_up: Cookie,
}

impl Hosted {
    #[must_use]
    pub fn new(
        service: Arc<Service>,
        settings: Arc<HttpSettings>,
        pages: Arc<Pages>,
        entropy: Arc<dyn Entropy>,
        keys: Arc<PageKeys>,
    ) -> Self {
        let cookie = |name| Cookie::of_pages(&settings, name);
        let cookies = Cookies {
            browser: cookie("latchkey_browser"),
            pages: cookie("latchkey_pages"),
            shown: cookie("latchkey_shown"),
            reset: cookie("latchkey_reset"),
            sign_in_link: cookie("latchkey_sign_in_link"),
            totp: cookie("latchkey_totp"),
            codes: cookie("latchkey_codes"),
            sign_up: Cookie::sign_up(&settings),
        };
        Self { service, settings, pages, entropy, keys, cookies: Arc::new(cookies), console: None }
    }

    pub(crate) fn with_console(self, console: Option<&Console>) -> Self {
        let url = console.map(|console| format!("{}/console", console.settings.public_origin()));
        Self { console: url.map(Into::into), ..self }
    }
}

impl HasAssets for Hosted {
    fn assets(&self) -> &Assets {
        self.pages.assets()
    }
}

impl RouterState for Hosted {
    fn http_settings(&self) -> &HttpSettings {
        &self.settings
    }
}
