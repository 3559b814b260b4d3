//! The shared state of all endpoints.

use std::sync::Arc;

use axum::extract::FromRef;
use latchkey_service::Service;
use latchkey_service::settings::SettingsInForce;

use crate::cookies::Cookie;
use crate::origin::OriginPolicy;
use crate::settings::HttpSettings;

/// The state of the router: cheap to clone.
#[derive(Clone)]
pub struct App {
    /// The use cases.
    pub service: Arc<Service>,
    /// The settings of the HTTP layer.
    pub settings: Arc<HttpSettings>,
    /// The web pages that may call with a cookie.
    pub origins: OriginPolicy,
    /// The refresh cookie.
    pub refresh_cookie: Cookie,
    /// The cookie of the browser that begins OAuth flows.
    pub oauth_cookie: Cookie,
    /// The cookie of the browser that signs up.
    pub sign_up_cookie: Cookie,
}

impl App {
    /// Puts the parts together. `cors_origins` are those of `server.cors_origins`; the origins of the redirect list are
    /// read from the settings in force at every request.
    #[must_use]
    pub fn new(service: Arc<Service>, settings: HttpSettings, cors_origins: Vec<String>) -> Self {
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
        }
    }
}

impl FromRef<App> for Arc<HttpSettings> {
    fn from_ref(app: &App) -> Self {
        Self::clone(&app.settings)
    }
}
