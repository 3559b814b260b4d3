//! `/api/auth/config`: the editable settings, for an admin.

use axum::extract::State;
use latchkey_service::admin::PublicSettings;
use latchkey_service::settings::{EmailMethod, SettingsPatch};
use serde::{Deserialize, Deserializer, Serialize};

use super::public_config::PublicConfigBody;
use crate::answer::Json;
use crate::app::App;
use crate::body::{JsonBody, Patch};
use crate::caller::Admin;
use crate::error::Result;

/// The settings as an admin sees them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigBody {
    #[serde(flatten)]
    public: PublicConfigBody,
    allowed_redirect_urls: Vec<String>,
    default_redirect_url: Option<String>,
}

/// A change of settings; what is left out stays.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeConfigRequest {
    require_email_verification: Option<bool>,
    verify_email_method: Option<Method>,
    reset_password_method: Option<Method>,
    allowed_redirect_urls: Option<Vec<String>>,
    #[serde(default)]
    default_redirect_url: Patch<String>,
    disable_signup: Option<bool>,
    password_min_length: Option<usize>,
    require_number: Option<bool>,
    require_lowercase: Option<bool>,
    require_uppercase: Option<bool>,
    require_special_char: Option<bool>,
}

/// `code` or `link`.
pub struct Method(EmailMethod);

impl<'de> Deserialize<'de> for Method {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        EmailMethod::parse(&text)
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("must be `code` or `link`"))
    }
}

impl From<&PublicSettings> for ConfigBody {
    fn from(settings: &PublicSettings) -> Self {
        let values = &settings.in_force.values;
        Self {
            public: settings.into(),
            allowed_redirect_urls: values.allowed_redirect_urls.clone(),
            default_redirect_url: values.default_redirect_url.clone(),
        }
    }
}

/// `GET /api/auth/config`
pub async fn get(State(app): State<App>, _: Admin) -> Json<ConfigBody> {
    Json(ConfigBody::from(&app.service.public_settings()))
}

/// `PUT /api/auth/config`: partial.
pub async fn put(
    State(app): State<App>,
    Admin(client): Admin,
    JsonBody(body): JsonBody<ChangeConfigRequest>,
) -> Result<Json<ConfigBody>> {
    let patch = SettingsPatch {
        require_email_verification: body.require_email_verification,
        verify_email_method: body.verify_email_method.map(|method| method.0),
        reset_password_method: body.reset_password_method.map(|method| method.0),
        allowed_redirect_urls: body.allowed_redirect_urls,
        default_redirect_url: body.default_redirect_url.into_option(),
        disable_sign_up: body.disable_signup,
        password_min_length: body.password_min_length,
        require_number: body.require_number,
        require_lowercase: body.require_lowercase,
        require_uppercase: body.require_uppercase,
        require_special_char: body.require_special_char,
    };
    let settings = app.service.change_settings(&patch, Some(&client.to_domain())).await?;
    Ok(Json(ConfigBody::from(&settings)))
}
