//! `POST /api/auth/email/reset-password`: resetPassword, with the token of an exchange or of a link.

use axum::extract::State;
use latchkey_domain::password::{Password, PasswordPolicy};
use latchkey_domain::tokens::LinkToken;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::answer::Json;
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::error::Result;
use crate::openapi::fields;
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

/// `POST /api/auth/email/reset-password`
pub async fn reset(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<ResetPasswordRequest>,
) -> Result<Json<MessageBody>> {
    let token = LinkToken::parse(&body.otp).ok_or(&INVALID_CODE)?;
    app.service.reset_password(token, body.new_password, client.to_domain()).await?;
    Ok(Json(MessageBody { message: "The password was changed. Sign in with the new one." }))
}
