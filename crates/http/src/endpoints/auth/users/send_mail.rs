//! `POST /api/auth/users/{id}/send-verification` and `…/send-reset-password`: mail a user a code or link, for an admin.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::Party;
use latchkey_domain::redirect::RedirectUrl;
use latchkey_service::admin::HelpMail;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::admin_input::{AdminBody, AdminRequest};
use crate::app::App;
use crate::caller::Admin;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::MessageBody;
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::{fields, parameters};
use crate::path::{PathText, user_id};

/// Request of an admin to have a mail with a code or link sent to a user.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SendUserMailRequest)]
pub struct SendMailRequest {
    #[schema(schema_with = fields::sent_or_null::<RedirectUrl>)]
    redirect_to: Option<String>,
}

impl AdminRequest for SendMailRequest {}

pub const VERIFICATION: Endpoint =
    sends(Endpoint::post("/api/auth/users/{id}/send-verification", |method| {
        on(method, |app, admin, id, body| send(HelpMail::Verification, app, admin, id, body))
    }))
    .named("sendUserVerification", "Mail a user a verification code or link")
    .about(
        "Replaces the previous code or link. Refused if the address is verified already. The link leads to `redirectTo`, else to the default \
         redirect URL, else to the page `/auth/verified` of the service, if it serves its pages.",
    );

pub const RESET: Endpoint = sends(Endpoint::post("/api/auth/users/{id}/send-reset-password", |method| {
    on(method, |app, admin, id, body| send(HelpMail::Reset, app, admin, id, body))
}))
.named("sendUserResetPassword", "Mail a user a reset code or link")
.about(
    "Replaces the previous code or link. Refused if the account is banned. The link leads to `redirectTo`, else to the default \
     redirect URL, else to the page `/auth/reset` of the service, if it serves its pages.",
);

/// Sets what both endpoints have in common.
const fn sends(endpoint: Endpoint) -> Endpoint {
    endpoint
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
        ])
}

async fn send(
    mail: HelpMail,
    State(app): State<App>,
    Admin(client): Admin,
    PathText(id): PathText,
    AdminBody(body): AdminBody<SendMailRequest>,
) -> Result<Json<MessageBody>> {
    let client = client.to_domain();
    app.service.admin.send_mail(user_id(&id)?, mail, body.redirect_to, Party::Admin, Some(&client)).await?;
    Ok(Json(MessageBody { message: "The mail is on its way." }))
}
