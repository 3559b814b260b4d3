//! The state that all pages share.

use std::sync::Arc;

use latchkey_http::settings::{HttpSettings, RouterState};
use latchkey_pages::Pages;
use latchkey_service::Service;

/// The state that all handlers of pages share. Cloning it is cheap.
#[derive(Clone)]
pub struct Hosted {
    pub service: Arc<Service>,
    pub settings: Arc<HttpSettings>,
    /// Templates, languages and files.
    pub pages: Arc<Pages>,
}

impl RouterState for Hosted {
    fn http_settings(&self) -> &HttpSettings {
        &self.settings
    }
}
