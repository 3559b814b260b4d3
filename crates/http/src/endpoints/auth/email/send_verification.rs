//! `POST /api/auth/email/send-verification`: resendVerificationEmail.

use axum::extract::State;
use http::StatusCode;

use super::{MailSentBody, SendMailRequest};
use crate::answer::Json;
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoints::auth::users::OlderOptions;
use crate::error::Result;

/// `POST /api/auth/email/send-verification`
pub async fn send(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<SendMailRequest>,
) -> Result<(StatusCode, Json<MailSentBody>)> {
    let redirect = OlderOptions::redirect_input(body.redirect_to, body.options);
    app.service.resend_verification(body.email, redirect, client.to_domain()).await?;
    let message = "If the address has an account that is not verified, a mail is on its way.";
    Ok((StatusCode::ACCEPTED, Json(MailSentBody { success: true, message })))
}
