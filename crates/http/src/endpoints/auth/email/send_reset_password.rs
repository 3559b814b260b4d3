//! `POST /api/auth/email/send-reset-password`: sendResetPasswordEmail.

use axum::extract::State;
use axum::routing::on;
use http::StatusCode;
use latchkey_domain::email::Email;
use latchkey_domain::redirect::RedirectUrl;
use latchkey_service::accounts::sign_up::RedirectInput;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::MailSentBody;
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::Result;
use crate::error::codes;
use crate::json::Json;
use crate::openapi::fields;

/// The body. There is no older variant of it: `options` is an unknown key here.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SendResetMailRequest)]
pub struct SendResetRequest {
    #[schema(schema_with = fields::sent::<Email>)]
    email: Email,
    #[schema(schema_with = fields::sent_or_null::<RedirectUrl>)]
    redirect_to: Option<String>,
}

/// Mails a reset code or link.
pub const SEND: Endpoint = Endpoint::post("/api/auth/email/send-reset-password", |method| on(method, send))
    .named("sendResetPasswordEmail", "Mail a reset code or link")
    .about("Known and unknown addresses are answered alike. It replaces the previous code or link.")
    .access(Access::Public)
    .body::<SendResetRequest>(|| json!({ "email": "ada@example.org" }))
    .responds_with::<MailSentBody>(
        StatusCode::ACCEPTED,
        "Accepted; a mail is sent if the address has an account for it.",
        &[],
    )
    .errors(&[
        &codes::REDIRECT_NOT_ALLOWED,
        &codes::EMAIL_PROVIDER_NOT_CONFIGURED,
        &codes::TOO_MANY_REQUESTS,
    ]);

/// `POST /api/auth/email/send-reset-password`
pub async fn send(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<SendResetRequest>,
) -> Result<(StatusCode, Json<MailSentBody>)> {
    let redirect = RedirectInput { redirect_to: body.redirect_to, email_redirect_to: None };
    app.service.passwords.send_reset(body.email, redirect, client.to_domain()).await?;
    let message = "If the address has an account, a mail is on its way.";
    Ok((StatusCode::ACCEPTED, Json(MailSentBody { success: true, message })))
}
