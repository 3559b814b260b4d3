//! `POST /api/auth/email/send-verification`: mails a new verification code or link.

use axum::extract::State;
use axum::routing::on;
use serde_json::json;

use super::{MailSent, SendMailRequest, mail_sent, mails};
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::Endpoint;
use crate::endpoints::auth::users::OlderOptions;
use crate::error::Result;

pub const SEND: Endpoint = mails(Endpoint::post("/api/auth/email/send-verification", |method| {
    on(method, send)
}))
.named("resendVerificationEmail", "Mail a new verification code or link")
.about("Known, unknown and verified addresses are answered alike. It replaces the previous code or link.")
.body::<SendMailRequest>(|| json!({ "email": "ada@example.org" }));

pub async fn send(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<SendMailRequest>,
) -> Result<MailSent> {
    let redirect = OlderOptions::redirect_input(body.redirect_to, body.options);
    let client = client.in_locale(body.locale).to_domain();
    app.service.mailbox.resend_verification(body.email, redirect, client).await?;
    let message = "If the address has an account that is not verified, a mail is on its way.";
    Ok(mail_sent(message))
}
