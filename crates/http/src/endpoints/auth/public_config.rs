//! `GET /api/auth/public-config`: the settings that sign-in pages need.

use axum::extract::State;
use axum::routing::on;
use latchkey_service::admin::PublicSettings;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::endpoint::{Access, Endpoint};
use crate::json::Json;
use crate::openapi::fields;

/// The settings that a sign-in page needs.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools, reason = "the wire contract's shape")]
#[schema(as = PublicConfig)]
pub struct PublicConfigBody {
    /// Keys of the built-in identity providers that are configured.
    #[serde(rename = "oAuthProviders")]
    oauth_providers: Vec<String>,
    /// Keys of the custom identity providers.
    #[serde(rename = "customOAuthProviders")]
    custom_oauth_providers: Vec<String>,
    /// True if an address must be verified before the first sign-in.
    require_email_verification: bool,
    #[schema(schema_with = fields::password_min_length)]
    password_min_length: usize,
    /// True if a new password must contain a digit.
    require_number: bool,
    /// True if a new password must contain a lower-case letter.
    require_lowercase: bool,
    /// True if a new password must contain an upper-case letter.
    require_uppercase: bool,
    /// True if a new password must contain a character that is neither letter nor digit.
    require_special_char: bool,
    #[schema(schema_with = fields::email_method)]
    verify_email_method: &'static str,
    #[schema(schema_with = fields::email_method)]
    reset_password_method: &'static str,
    /// True if sign-up is disabled.
    disable_signup: bool,
    #[schema(schema_with = fields::email_sign_in)]
    pub(super) email_sign_in: &'static str,
    #[schema(schema_with = fields::second_factor)]
    second_factor: &'static str,
    /// True if users can sign in by passkey. False also where `server.public_url` has no domain.
    passkeys: bool,
    /// The languages of mails, as language tags (BCP 47).
    #[schema(example = json!(["en", "de"]))]
    locales: Vec<String>,
}

impl From<&PublicSettings> for PublicConfigBody {
    fn from(settings: &PublicSettings) -> Self {
        let values = &settings.in_force.values;
        Self {
            oauth_providers: settings.oauth_providers.clone(),
            custom_oauth_providers: settings.custom_oauth_providers.clone(),
            require_email_verification: values.require_email_verification,
            password_min_length: values.password_min_length,
            require_number: values.require_number,
            require_lowercase: values.require_lowercase,
            require_uppercase: values.require_uppercase,
            require_special_char: values.require_special_char,
            verify_email_method: values.verify_email_method.as_str(),
            reset_password_method: values.reset_password_method.as_str(),
            disable_signup: values.disable_sign_up,
            email_sign_in: settings.email_sign_in.as_str(),
            second_factor: values.second_factor.as_str(),
            passkeys: settings.passkeys,
            locales: settings.locales.iter().map(|locale| locale.as_str().to_owned()).collect(),
        }
    }
}

pub const GET: Endpoint = Endpoint::get("/api/auth/public-config", |method| on(method, get))
    .named("getPublicConfig", "Read the public settings")
    .about("What a sign-in page needs to know.")
    .access(Access::Public)
    .responds::<PublicConfigBody>("The settings in force.")
    .without_storage();

pub async fn get(State(app): State<App>) -> Json<PublicConfigBody> {
    Json(PublicConfigBody::from(&app.service.admin.public_settings()))
}
