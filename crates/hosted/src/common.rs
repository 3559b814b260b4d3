//! What pages and console share.

use std::sync::Arc;

use latchkey_http::cookies::Cookie;
use latchkey_http::settings::HttpSettings;
use latchkey_service::Service;
use latchkey_service::entropy::Entropy;

use crate::keys::PageKeys;

/// The part of the state that pages and console have in common. Both states dereference to it.
#[derive(Clone)]
pub struct Common {
    pub(crate) service: Arc<Service>,
    /// HTTP settings, with the public URL of the pages or of the console.
    pub(crate) settings: Arc<HttpSettings>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) keys: Arc<PageKeys>,
    /// The cookie of the browser secret.
    pub(crate) browser: Cookie,
}

impl Common {
    pub(crate) fn new(
        service: Arc<Service>,
        settings: Arc<HttpSettings>,
        entropy: Arc<dyn Entropy>,
        keys: Arc<PageKeys>,
    ) -> Self {
        let browser = Cookie::of_pages(&settings, "latchkey_browser");
        Self { service, settings, entropy, keys, browser }
    }
}
