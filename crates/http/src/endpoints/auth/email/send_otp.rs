//! `POST /api/auth/email/send-otp`: mails a code for sign-in, and perhaps a link.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::email::Email;
use latchkey_domain::locale::Locale;
use latchkey_domain::redirect::RedirectUrl;
use latchkey_service::accounts::sign_up::RedirectInput;
use latchkey_service::mailbox::sign_in::SignInMail;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{MailSent, mail_sent, mails};
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::Endpoint;
use crate::error::{Result, codes};
use crate::openapi::fields;

/// Request body of the operation `signInWithOtp`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SendSignInMailRequest)]
pub struct SendOtpRequest {
    #[schema(schema_with = fields::sent::<Email>)]
    email: Email,
    #[schema(schema_with = fields::sent_or_null::<RedirectUrl>)]
    redirect_to: Option<String>,
    #[serde(rename = "code_challenge", alias = "codeChallenge")]
    #[schema(schema_with = fields::sign_in_challenge)]
    code_challenge: Option<String>,
    #[schema(schema_with = fields::locale)]
    locale: Option<Locale>,
}

pub const SEND: Endpoint = mails(Endpoint::post("/api/auth/email/send-otp", |method| on(method, send)))
    .named("signInWithOtp", "Mail a code for sign-in")
    .about(
        "Known and unknown addresses are answered alike. An address without an account gets the mail too, unless \
         sign-up is disabled: the right code makes the account. It replaces the previous code. \
         `POST /api/auth/sessions` with method `otp` takes the code. With `auth.email_sign_in = \"code_and_link\"`, \
         `code_challenge` and a redirect target the mail has a link too, for the browser that has the verifier.",
    )
    .body::<SendOtpRequest>(|| json!({ "email": "ada@example.org" }))
    .errors(&[&codes::FEATURE_DISABLED, &codes::REDIRECT_NOT_ALLOWED, &codes::TOO_MANY_REQUESTS]);

pub async fn send(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<SendOtpRequest>,
) -> Result<MailSent> {
    let redirect = RedirectInput { redirect_to: body.redirect_to, email_redirect_to: None };
    let mail = SignInMail { email: body.email, redirect, code_challenge: body.code_challenge };
    let client = client.in_locale(body.locale).to_domain();
    app.service.mailbox.send_sign_in(mail, &client).await?;
    Ok(mail_sent("If one can sign in with the address, a mail is on its way."))
}
