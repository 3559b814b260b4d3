//! `POST /api/auth/email/reset-password`: resetPassword, with the token of an exchange or of a link.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::password::{Password, PasswordPolicy};
use latchkey_domain::tokens::LinkToken;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::Result;
use crate::error::codes;
use crate::json::Json;
use crate::openapi::fields;
use latchkey_domain::shape::Shaped;
use latchkey_service::refusal::INVALID_CODE;

/// The body of resetPassword.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResetPasswordRequest {
    #[schema(schema_with = fields::sent::<PasswordPolicy>)]
    new_password: Password,
    #[schema(schema_with = fields::sent::<LinkToken>)]
    otp: String,
}

/// A sentence.
#[derive(Serialize, ToSchema)]
#[schema(as = Message)]
pub struct MessageBody {
    #[schema(schema_with = fields::message)]
    message: &'static str,
}

/// A new password by a reset token.
pub const RESET: Endpoint = Endpoint::post("/api/auth/email/reset-password", |method| on(method, reset))
    .named("resetPassword", "Set a new password with a reset token")
    .about("Ends every session of the user and opens none. A password that breaks a rule does not use up the token.")
    .access(Access::Public)
    .body::<ResetPasswordRequest>(
        || json!({ "newPassword": "staple of the battery", "otp": LinkToken::SENT.example }),
    )
    .responds::<MessageBody>("The password was changed.")
    .errors(&[&codes::INVALID_CODE, &codes::WEAK_PASSWORD, &codes::TOO_MANY_REQUESTS]);

/// `POST /api/auth/email/reset-password`
pub async fn reset(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<ResetPasswordRequest>,
) -> Result<Json<MessageBody>> {
    let token = LinkToken::parse(&body.otp).ok_or(&INVALID_CODE)?;
    app.service.passwords.reset_password(token, body.new_password, client.to_domain()).await?;
    Ok(Json(MessageBody { message: "The password was changed. Sign in with the new one." }))
}
