//! `POST /api/auth/email/send-reset-password`: sendResetPasswordEmail.

use axum::extract::State;
use http::StatusCode;

use super::{MailSentBody, SendMailRequest};
use crate::answer::Json;
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoints::auth::users::OlderOptions;
use crate::error::Result;

/// `POST /api/auth/email/send-reset-password`
pub async fn send(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<SendMailRequest>,
) -> Result<(StatusCode, Json<MailSentBody>)> {
    let redirect = OlderOptions::redirect_input(body.redirect_to, body.options);
    app.service.send_reset(body.email, redirect, client.to_domain()).await?;
    let message = "If the address has an account, a mail is on its way.";
    Ok((StatusCode::ACCEPTED, Json(MailSentBody { success: true, message })))
}
