//! `POST /api/auth/sessions`: sign-in by password, or by mail.

use axum::extract::State;
use axum::response::Response;
use axum::routing::on;
use http::StatusCode;
use latchkey_domain::codes::EnteredCode;
use latchkey_domain::email::Email;
use latchkey_domain::locale::Locale;
use latchkey_domain::password::Password;
use latchkey_domain::profile::Name;
use latchkey_domain::shape::Shaped;
use latchkey_domain::tokens::LinkToken;
use latchkey_service::refusal::INVALID_CODE;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::example::{Example, ExampleBuilder};

use crate::app::App;
use crate::body::{JsonBody, from_object};
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint, keys_of};
use crate::endpoints::auth::SignInBody;
use crate::endpoints::auth::email::code;
use crate::endpoints::auth::session::{Saying, entrance_answer};
use crate::error::{Result, codes};
use crate::openapi::fields;
use crate::openapi::headers::SET_COOKIE;
use crate::openapi::parameters;

/// Request to sign in. The method says which fields it has.
#[derive(ToSchema)]
#[serde(untagged)]
pub enum SignInRequest {
    /// By password.
    Password(PasswordSignIn),
    /// By the code of a mail that `signInWithOtp` sent.
    Code(CodeSignIn),
    /// By the link of such a mail, in the browser that asked for it.
    Link(LinkSignIn),
}

/// Request body of the operation `signInWithPassword`.
#[derive(Deserialize, ToSchema)]
#[schema(as = PasswordSignIn)]
pub struct PasswordSignIn {
    #[schema(schema_with = fields::sent::<Email>)]
    email: Email,
    #[schema(schema_with = fields::sent::<Password>)]
    password: Password,
    #[serde(default, rename = "method")]
    #[schema(schema_with = fields::method_password)]
    _method: Option<SignInMethod>,
}

/// Request to sign in by a mailed code.
#[derive(Deserialize, ToSchema)]
#[schema(as = CodeSignIn)]
pub struct CodeSignIn {
    #[serde(rename = "method")]
    #[schema(schema_with = fields::method_otp)]
    _method: SignInMethod,
    #[schema(schema_with = fields::sent::<Email>)]
    email: Email,
    #[schema(schema_with = fields::sent::<EnteredCode>)]
    otp: String,
    #[schema(schema_with = fields::optional_name)]
    name: Option<Name>,
    #[schema(schema_with = fields::locale)]
    locale: Option<Locale>,
}

/// Request to sign in by a mailed link.
#[derive(Deserialize, ToSchema)]
#[schema(as = LinkSignIn)]
pub struct LinkSignIn {
    #[serde(rename = "method")]
    #[schema(schema_with = fields::method_link)]
    _method: SignInMethod,
    #[schema(schema_with = fields::sign_in_token)]
    token: String,
    #[serde(alias = "codeVerifier")]
    #[schema(schema_with = fields::code_verifier)]
    code_verifier: Option<String>,
    #[schema(schema_with = fields::optional_name)]
    name: Option<Name>,
    #[schema(schema_with = fields::locale)]
    locale: Option<Locale>,
}

/// The field `method` of a sign-in request, read first to determine its other fields.
#[derive(Deserialize, Default)]
struct MethodOf {
    method: Option<SignInMethod>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum SignInMethod {
    Password,
    Otp,
    Link,
}

pub const SIGN_IN: Endpoint = Endpoint::post("/api/auth/sessions", |method| on(method, sign_in))
    .named("signInWithPassword", "Sign in by password or by mail")
    .about(
        "Opens a session. A wrong password, an unknown address and an account without a password are answered alike. \
         With method `otp` the code of a mail opens it, with `link` the token of its link and the verifier of the browser \
         that asked; a wrong token of a link uses nothing up. If the address has no account, one is made, with `name`. If \
         the account's address was never verified, or its password may be someone else's, a right answer first removes \
         password, identities, sessions and public text.",
    )
    .access(Access::Public)
    .parameters(&[parameters::client_type])
    .body_of_shapes::<SignInRequest>(
        || [keys_of::<PasswordSignIn>(), keys_of::<CodeSignIn>(), keys_of::<LinkSignIn>()].concat(),
        examples,
    )
    .responds_with::<SignInBody>(StatusCode::OK, "The session is open, or a second factor is needed.", &[SET_COOKIE])
    .errors(&[
        &codes::INVALID_CODE,
        &codes::INVALID_CREDENTIALS,
        &codes::EMAIL_NOT_VERIFIED,
        &codes::FEATURE_DISABLED,
        &codes::USER_BANNED,
        &codes::TOO_MANY_REQUESTS,
    ]);

pub async fn sign_in(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<Map<String, Value>>,
) -> Result<Response> {
    let method = body.get("method").map(|method| Map::from_iter([("method".to_owned(), method.clone())]));
    let MethodOf { method } = from_object(method.unwrap_or_default())?;
    let entrance = match method.unwrap_or(SignInMethod::Password) {
        SignInMethod::Password => {
            let PasswordSignIn { email, password, .. } = from_object(body)?;
            app.service.passwords.sign_in(email, password, client.to_sign_in()).await?
        }
        SignInMethod::Otp => {
            let CodeSignIn { email, otp, name, locale, .. } = from_object(body)?;
            let from = client.clone().in_locale(locale).to_sign_in();
            app.service.mailbox.sign_in_by_code(email, code(&otp)?, name, &from).await?
        }
        SignInMethod::Link => {
            let LinkSignIn { token, code_verifier, name, locale, .. } = from_object(body)?;
            let from = client.clone().in_locale(locale).to_sign_in();
            let token = LinkToken::parse(&token).ok_or(&INVALID_CODE)?;
            let verifier = code_verifier.ok_or(&INVALID_CODE)?;
            app.service.mailbox.sign_in_by_link(token, &verifier, name, &from).await?
        }
    };
    entrance_answer(&app, entrance, Saying::Nothing)
}

fn examples() -> Vec<(&'static str, Example)> {
    let example = |body| ExampleBuilder::new().value(Some(body)).build();
    let (email, otp) = (Email::SENT.example, EnteredCode::SENT.example);
    let (token, verifier) = (
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    );
    vec![
        ("link", example(json!({ "method": "link", "token": token, "code_verifier": verifier }))),
        ("password", example(json!({ "email": email, "password": "correct horse battery" }))),
        ("otp", example(json!({ "method": "otp", "email": email, "otp": otp }))),
    ]
}
