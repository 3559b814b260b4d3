//! The state that all pages share.

use std::ops::Deref;
use std::sync::Arc;

use latchkey_http::cookies::Cookie;
use latchkey_http::settings::{HttpSettings, RouterState};
use latchkey_pages::Pages;
use latchkey_service::Service;
use latchkey_service::entropy::Entropy;

use crate::common::Common;
use crate::keys::PageKeys;

/// The state that all handlers of pages share. Cloning it is cheap.
#[derive(Clone)]
pub struct Hosted {
    common: Common,
    /// Templates, languages and files.
    pub(crate) pages: Arc<Pages>,
    pub(crate) cookies: Arc<Cookies>,
    /// URL of the console, for the start page; `None` if it is off.
    pub(crate) console: Option<Arc<str>>,
}

/// The cookies of the pages.
pub(crate) struct Cookies {
    /// The token of the page session.
    pub(crate) pages: Cookie,
    /// Digests of the tickets that led back to an app already.
    pub(crate) shown: Cookie,
    /// The later ends of flows that were prolonged, sealed.
    pub(crate) prolonged: Cookie,
    /// The tokens of password resets, sealed.
    pub(crate) reset: Cookie,
    /// The tokens of sign-ins by a mailed link, sealed.
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
            pages: cookie("latchkey_pages"),
            shown: cookie("latchkey_shown"),
            prolonged: cookie("latchkey_prolonged"),
            reset: cookie("latchkey_reset"),
            sign_in_link: cookie("latchkey_sign_in_link"),
            totp: cookie("latchkey_totp"),
            codes: cookie("latchkey_codes"),
            sign_up: Cookie::sign_up(&settings),
        };
        let common = Common::new(service, settings, entropy, keys);
        Self { common, pages, cookies: Arc::new(cookies), console: None }
    }

    /// Shows the URL of the console on the start page.
    pub(crate) fn with_console(self, url: Option<String>) -> Self {
        Self { console: url.map(Into::into), ..self }
    }
}

impl Deref for Hosted {
    type Target = Common;

    fn deref(&self) -> &Common {
        &self.common
    }
}

impl RouterState for Hosted {
    fn http_settings(&self) -> &HttpSettings {
        &self.settings
    }
}
