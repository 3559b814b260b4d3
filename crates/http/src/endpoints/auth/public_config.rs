//! `GET /api/auth/public-config`: the settings that sign-in pages need.

use axum::extract::State;
use latchkey_service::admin::PublicSettings;
use serde::Serialize;

use crate::answer::Json;
use crate::app::App;

/// The public settings.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools, reason = "the wire contract's shape")]
pub struct PublicConfigBody {
    #[serde(rename = "oAuthProviders")]
    oauth_providers: Vec<String>,
    #[serde(rename = "customOAuthProviders")]
    custom_oauth_providers: Vec<String>,
    require_email_verification: bool,
    password_min_length: usize,
    require_number: bool,
    require_lowercase: bool,
    require_uppercase: bool,
    require_special_char: bool,
    verify_email_method: &'static str,
    reset_password_method: &'static str,
    disable_signup: bool,
}

impl From<&PublicSettings> for PublicConfigBody {
    fn from(settings: &PublicSettings) -> Self {
        let values = &settings.in_force.values;
        Self {
            oauth_providers: settings.oauth_providers.clone(),
            custom_oauth_providers: settings.custom_oauth_providers.clone(),
            require_email_verification: values.require_email_verification,
            password_min_length: values.passwords.min_length,
            require_number: values.passwords.require_number,
            require_lowercase: values.passwords.require_lowercase,
            require_uppercase: values.passwords.require_uppercase,
            require_special_char: values.passwords.require_special_char,
            verify_email_method: values.verify_email_method.as_str(),
            reset_password_method: values.reset_password_method.as_str(),
            disable_signup: values.disable_sign_up,
        }
    }
}

/// `GET /api/auth/public-config`
pub async fn get(State(app): State<App>) -> Json<PublicConfigBody> {
    Json(PublicConfigBody::from(&app.service.public_settings()))
}
