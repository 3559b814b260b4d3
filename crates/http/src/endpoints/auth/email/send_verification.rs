//! `POST /api/auth/email/send-verification`: resendVerificationEmail.

use axum::extract::State;
use axum::routing::on;
use http::StatusCode;
use serde_json::json;

use super::{MailSentBody, SendMailRequest};
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::auth::users::OlderOptions;
use crate::error::Result;
use crate::error::codes;
use crate::json::Json;

/// Mails a new verification code or link.
pub const SEND: Endpoint = Endpoint::post("/api/auth/email/send-verification", |method| on(method, send))
    .named("resendVerificationEmail", "Mail a new verification code or link")
    .about("Known, unknown and verified addresses are answered alike. It replaces the previous code or link.")
    .access(Access::Public)
    .body::<SendMailRequest>(|| json!({ "email": "ada@example.org" }))
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

/// `POST /api/auth/email/send-verification`
pub async fn send(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<SendMailRequest>,
) -> Result<(StatusCode, Json<MailSentBody>)> {
    let redirect = OlderOptions::redirect_input(body.redirect_to, body.options);
    app.service.mailbox.resend_verification(body.email, redirect, client.to_domain()).await?;
    let message = "If the address has an account that is not verified, a mail is on its way.";
    Ok((StatusCode::ACCEPTED, Json(MailSentBody { success: true, message })))
}
