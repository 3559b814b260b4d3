//! `POST /api/auth/users/{id}/send-reset-password`: mails a user a reset code or link, for an admin.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::ids::UserId;
use latchkey_service::admin::HelpMail;
use serde_json::json;

use super::mails::{SendMailRequest, send_mail};
use crate::admin_input::AdminBody;
use crate::app::App;
use crate::caller::Admin;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::MessageBody;
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::parameters;
use crate::path::PathText;

pub const SEND: Endpoint =
    Endpoint::post("/api/auth/users/{id}/send-reset-password", |method| on(method, send))
        .named("sendUserResetPassword", "Mail a user a reset code or link")
        .about(
            "Replaces the previous code or link. Refused if the account is banned. The link leads to `redirectTo`, else to the default \
             redirect URL, else to the page `/auth/reset` of the service, if it serves its pages.",
        )
        .access(Access::Admin)
        .parameters(&[parameters::id::<UserId>])
        .optional_body::<SendMailRequest>(|| json!({}))
        .responds::<MessageBody>("The mail is on its way.")
        .errors(&[
            &codes::USER_NOT_FOUND,
            &codes::MAIL_NOT_SENT,
            &codes::EMAIL_PROVIDER_NOT_CONFIGURED,
            &codes::REDIRECT_NOT_ALLOWED,
            &codes::TOO_MANY_REQUESTS,
        ]);

pub async fn send(
    State(app): State<App>,
    Admin(client): Admin,
    PathText(id): PathText,
    AdminBody(body): AdminBody<SendMailRequest>,
) -> Result<Json<MessageBody>> {
    send_mail(&app, &id, HelpMail::Reset, body, &client.to_domain()).await
}
