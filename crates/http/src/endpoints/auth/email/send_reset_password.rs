//! `POST /api/auth/email/send-reset-password`: mails a reset code or link.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::email::Email;
use latchkey_domain::locale::Locale;
use latchkey_domain::redirect::RedirectUrl;
use latchkey_service::accounts::sign_up::RedirectInput;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{MailSent, mail_sent, mails};
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::Endpoint;
use crate::error::Result;
use crate::openapi::fields;

/// Request body of the operation `sendResetPasswordEmail`. The key `options` of older clients is ignored here.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SendResetMailRequest)]
pub struct SendResetRequest {
    #[schema(schema_with = fields::sent::<Email>)]
    email: Email,
    #[schema(schema_with = fields::sent_or_null::<RedirectUrl>)]
    redirect_to: Option<String>,
    #[schema(schema_with = fields::locale)]
    locale: Option<Locale>,
}

pub const SEND: Endpoint =
    mails(Endpoint::post("/api/auth/email/send-reset-password", |method| on(method, send)))
        .named("sendResetPasswordEmail", "Mail a reset code or link")
        .about("Known and unknown addresses are answered alike. It replaces the previous code or link.")
        .body::<SendResetRequest>(|| json!({ "email": "ada@example.org" }));

pub async fn send(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<SendResetRequest>,
) -> Result<MailSent> {
    let redirect = RedirectInput { redirect_to: body.redirect_to, email_redirect_to: None };
    let client = client.in_locale(body.locale).to_domain();
    app.service.passwords.send_reset(body.email, redirect, client).await?;
    let message = "If the address has an account, a mail is on its way.";
    Ok(mail_sent(message))
}
