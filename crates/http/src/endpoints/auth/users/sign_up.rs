//! Sign-up: `POST /api/auth/users` without an admin key.

use axum::RequestPartsExt;
use axum::extract::{FromRequest, Request};
use axum::response::{IntoResponse, Response};
use http::header::SET_COOKIE;
use latchkey_domain::email::Email;
use latchkey_domain::email_verification::SIGN_UP_COOKIE_LIFETIME;
use latchkey_domain::locale::Locale;
use latchkey_domain::password::{Password, PasswordPolicy};
use latchkey_domain::profile::Name;
use latchkey_domain::redirect::RedirectUrl;
use latchkey_domain::tokens::LinkToken;
use latchkey_service::accounts::sign_up::{RedirectInput, SignUp, SignedUp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoints::auth::session::{Saying, entrance_answer};
use crate::error::{ApiError, Result};
use crate::json::Json;
use crate::openapi::fields;

/// Request body of the operation `signUp`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignUpRequest {
    #[schema(schema_with = fields::sent::<Email>)]
    email: Email,
    #[schema(schema_with = fields::sent::<PasswordPolicy>)]
    password: Password,
    #[schema(schema_with = fields::optional_name)]
    name: Option<Name>,
    #[schema(schema_with = fields::sent_or_null::<RedirectUrl>)]
    redirect_to: Option<String>,
    #[schema(schema_with = fields::locale)]
    locale: Option<Locale>,
    options: Option<OlderOptions>,
}

/// The object `options`, in which older clients send the redirect target.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OlderOptions {
    #[schema(schema_with = fields::older_redirect_to)]
    email_redirect_to: Option<String>,
}

/// The response while verification is required. It is the same for a free and a taken address.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = VerificationRequired)]
pub struct VerificationRequiredBody {
    #[schema(schema_with = fields::no_token, required)]
    access_token: Option<String>,
    #[schema(schema_with = fields::verification_required)]
    require_email_verification: bool,
    #[schema(schema_with = fields::no_token, required)]
    csrf_token: Option<String>,
}

impl OlderOptions {
    /// Collects the redirect target from `redirect_to` and from the `options` of older clients.
    pub(crate) fn redirect_input(redirect_to: Option<String>, options: Option<Self>) -> RedirectInput {
        RedirectInput {
            redirect_to,
            email_redirect_to: options.and_then(|options| options.email_redirect_to),
        }
    }
}

pub(super) async fn sign_up(app: &App, request: Request) -> Result<Response> {
    let (mut parts, body) = request.into_parts();
    let client: ClientInfo = parts.extract_with_state(app).await?;
    let JsonBody(body) =
        JsonBody::<SignUpRequest>::from_request(Request::from_parts(parts, body), app).await?;

    let client = client.in_locale(body.locale);
    let gets_cookie = client.client_type.is_web() && app.service.settings().values.require_email_verification;
    let browser = gets_cookie.then(|| LinkToken::new(app.service.random_bytes()));
    let sign_up = SignUp {
        email: body.email,
        password: body.password,
        name: body.name,
        redirect: OlderOptions::redirect_input(body.redirect_to, body.options),
        browser: browser.as_ref().map(LinkToken::hash),
        client: client.to_sign_in(),
    };
    match app.service.accounts.sign_up(sign_up).await? {
        SignedUp::Entered(entrance) => entrance_answer(app, entrance, Saying::NoVerification),
        SignedUp::VerificationRequired => verification_required(app, browser.as_ref()),
    }
}

/// Builds the response while verification is required. It sets the sign-up cookie for free and taken addresses alike.
fn verification_required(app: &App, browser: Option<&LinkToken>) -> Result<Response> {
    let body =
        VerificationRequiredBody { access_token: None, require_email_verification: true, csrf_token: None };
    let mut response = Json(body).into_response();
    if let Some(token) = browser {
        let cookie =
            app.sign_up_cookie.set(token.expose(), SIGN_UP_COOKIE_LIFETIME).map_err(ApiError::internal)?;
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}
