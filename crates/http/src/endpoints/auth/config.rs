//! `/api/auth/config`: the settings that an admin can change at run time.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::challenge::SecondFactorPolicy;
use latchkey_domain::operator::Party;
use latchkey_domain::reason::{self, Reason};
use latchkey_service::admin::PublicSettings;
use latchkey_service::settings::{EmailMethod, EmailSignIn, SettingsPatch};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::public_config::PublicConfigBody;
use crate::admin_input::{AdminBody, AdminRequest};
use crate::app::App;
use crate::body::Patch;
use crate::caller::Admin;
use crate::endpoint::{Access, Endpoint};
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::fields;

/// The settings that an admin can change.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Config)]
pub struct ConfigBody {
    #[serde(flatten)]
    public: PublicConfigBody,
    /// The allowed redirect URLs.
    allowed_redirect_urls: Vec<String>,
    #[schema(schema_with = fields::default_redirect_url, required)]
    default_redirect_url: Option<String>,
    #[schema(schema_with = fields::default_locale)]
    default_locale: String,
}

/// A change of settings. Absent keys stay unchanged.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UpdateConfigRequest)]
pub struct ChangeConfigRequest {
    /// True if an address must be verified before the first sign-in.
    require_email_verification: Option<bool>,
    #[schema(schema_with = fields::new_email_method)]
    verify_email_method: Option<Method>,
    #[schema(schema_with = fields::new_email_method)]
    reset_password_method: Option<Method>,
    /// The allowed redirect URLs. Replaces the whole list.
    allowed_redirect_urls: Option<Vec<String>>,
    #[serde(default)]
    #[schema(schema_with = fields::new_default_redirect_url)]
    default_redirect_url: Patch<String>,
    /// True if sign-up is disabled.
    disable_signup: Option<bool>,
    #[schema(schema_with = fields::new_email_sign_in)]
    email_sign_in: Option<SignInByMail>,
    #[schema(schema_with = fields::new_second_factor)]
    second_factor: Option<Policy>,
    /// True if users can sign in by passkey.
    passkeys: Option<bool>,
    #[schema(schema_with = fields::new_default_locale)]
    default_locale: Option<String>,
    #[schema(schema_with = fields::new_password_min_length)]
    password_min_length: Option<usize>,
    /// True if a new password must contain a digit.
    require_number: Option<bool>,
    /// True if a new password must contain a lower-case letter.
    require_lowercase: Option<bool>,
    /// True if a new password must contain an upper-case letter.
    require_uppercase: Option<bool>,
    /// True if a new password must contain a character that is neither letter nor digit.
    require_special_char: Option<bool>,
}

impl AdminRequest for ChangeConfigRequest {
    const IGNORED: &'static [&'static str] = &["oAuthProviders", "customOAuthProviders", "locales"];
}

/// Kind of verification or reset mail in a request: `code` or `link`.
pub struct Method(EmailMethod);

impl<'de> Deserialize<'de> for Method {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        EmailMethod::parse(&text)
            .map(Self)
            .ok_or_else(|| reason::refusal(Reason::NotAllowed, "must be `code` or `link`"))
    }
}

/// Sign-in by mail in a request, such as `code`.
pub struct SignInByMail(EmailSignIn);

impl<'de> Deserialize<'de> for SignInByMail {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        EmailSignIn::parse(&text)
            .map(Self)
            .ok_or_else(|| reason::refusal(Reason::NotAllowed, "must be `off`, `code` or `code_and_link`"))
    }
}

/// Policy of second factors in a request, such as `optional`.
pub struct Policy(SecondFactorPolicy);

impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        SecondFactorPolicy::parse(&text)
            .map(Self)
            .ok_or_else(|| reason::refusal(Reason::NotAllowed, "must be `off`, `optional` or `required`"))
    }
}

impl From<&PublicSettings> for ConfigBody {
    fn from(settings: &PublicSettings) -> Self {
        let values = &settings.in_force.values;
        let mut public = PublicConfigBody::from(settings);
        // An admin gets the setting as it is stored, so that sending the response of GET back in a
        // PUT changes nothing.
        public.email_sign_in = values.email_sign_in.as_str();
        Self {
            public,
            allowed_redirect_urls: values.allowed_redirect_urls.clone(),
            default_redirect_url: values.default_redirect_url.clone(),
            default_locale: values.default_locale.clone(),
        }
    }
}

pub const GET: Endpoint = Endpoint::get("/api/auth/config", |method| on(method, get))
    .named("getConfig", "Read the editable settings")
    .access(Access::Admin)
    .responds::<ConfigBody>("The settings in force.");

pub async fn get(State(app): State<App>, _: Admin) -> Json<ConfigBody> {
    Json(ConfigBody::from(&app.service.admin.public_settings()))
}

pub const PUT: Endpoint = Endpoint::put("/api/auth/config", |method| on(method, put))
    .named("updateConfig", "Change the editable settings")
    .about("Changes the keys that are present; `null` changes nothing, except that it removes `defaultRedirectUrl`. In force here at once, on other instances within a second.")
    .access(Access::Admin)
    .optional_body::<ChangeConfigRequest>(|| json!({ "allowedRedirectUrls": ["https://app.example.org/welcome"] }))
    .responds::<ConfigBody>("The settings in force after the change.")
    .errors(&[&codes::SETTING_PINNED, &codes::EMAIL_PROVIDER_NOT_CONFIGURED]);

pub async fn put(
    State(app): State<App>,
    Admin(client): Admin,
    AdminBody(body): AdminBody<ChangeConfigRequest>,
) -> Result<Json<ConfigBody>> {
    let patch = SettingsPatch {
        require_email_verification: body.require_email_verification,
        verify_email_method: body.verify_email_method.map(|method| method.0),
        reset_password_method: body.reset_password_method.map(|method| method.0),
        allowed_redirect_urls: body.allowed_redirect_urls,
        default_redirect_url: body.default_redirect_url.into(),
        disable_sign_up: body.disable_signup,
        email_sign_in: body.email_sign_in.map(|by_mail| by_mail.0),
        second_factor: body.second_factor.map(|policy| policy.0),
        passkeys_enabled: body.passkeys,
        default_locale: body.default_locale,
        password_min_length: body.password_min_length,
        require_number: body.require_number,
        require_lowercase: body.require_lowercase,
        require_uppercase: body.require_uppercase,
        require_special_char: body.require_special_char,
    };
    let settings = app.service.admin.change_settings(&patch, Party::Admin, Some(&client.to_domain())).await?;
    Ok(Json(ConfigBody::from(&settings)))
}
