//! The shared state of all endpoints.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use latchkey_metrics::Registry;
use latchkey_service::Service;
use latchkey_service::settings::SettingsInForce;

use crate::cookies::Cookie;
use crate::origin::OriginPolicy;
use crate::settings::{HttpSettings, RouterState};

/// The state that all handlers share. Cloning it is cheap.
#[derive(Clone)]
pub struct App {
    pub service: Arc<Service>,
    pub settings: Arc<HttpSettings>,
    /// Origins of web pages that may call with the refresh cookie.
    pub origins: OriginPolicy,
    pub refresh_cookie: Cookie,
    /// The cookie that binds an OAuth flow to the browser that started it.
    pub oauth_cookie: Cookie,
    /// The cookie that binds a sign-up to the browser that made it.
    pub sign_up_cookie: Cookie,
    /// The metrics of the process; without them `/metrics` does not exist.
    pub metrics: Option<Arc<Registry>>,
    /// True once the process is about to stop.
    pub is_stopping: Arc<AtomicBool>,
}

impl App {
    /// Builds the state. `cors_origins` is the setting `server.cors_origins`. Origins of allowed redirect URLs are read
    /// from the settings at every request, because an admin can change them.
    #[must_use]
    pub fn new(service: Arc<Service>, settings: HttpSettings, cors_origins: Vec<String>) -> Self {
        let settings = HttpSettings { locales: service.shared.locales.clone(), ..settings };
        let in_force = Arc::clone(&service);
        let listed = move |origin: &str| {
            let is_redirect_origin =
                |settings: &SettingsInForce| settings.redirects.origins().any(|known| known == origin);
            cors_origins.iter().any(|known| known == origin) || is_redirect_origin(&in_force.settings())
        };
        Self {
            origins: OriginPolicy::new(&settings, Arc::new(listed)),
            refresh_cookie: Cookie::refresh(&settings),
            oauth_cookie: Cookie::oauth(&settings),
            sign_up_cookie: Cookie::sign_up(&settings),
            settings: Arc::new(settings),
            service,
            metrics: None,
            is_stopping: Arc::default(),
        }
    }

    /// Returns the same state with metrics, which `/metrics` shows to an admin.
    #[must_use]
    pub fn with_metrics(self, metrics: Arc<Registry>) -> Self {
        Self { metrics: Some(metrics), ..self }
    }

    /// Returns the same state, which is not ready while `is_stopping` is true.
    #[must_use]
    pub fn not_ready_while(self, is_stopping: Arc<AtomicBool>) -> Self {
        Self { is_stopping, ..self }
    }
}

impl RouterState for App {
    fn http_settings(&self) -> &HttpSettings {
        &self.settings
    }
}
