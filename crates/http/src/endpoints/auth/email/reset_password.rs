//! `POST /api/auth/email/reset-password`: sets a new password with a reset token, which came from a code or a mailed
//! link.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::password::{Password, PasswordPolicy};
use latchkey_domain::tokens::LinkToken;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::MessageBody;
use crate::endpoints::auth::ChallengeBody;
use crate::error::codes;
use crate::error::{ApiError, Result};
use crate::json::Json;
use crate::openapi::fields;
use latchkey_domain::shape::Shaped;
use latchkey_service::passwords::reset::ResetOutcome;
use latchkey_service::refusal::INVALID_CODE;

/// Request body of the operation `resetPassword`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResetPasswordRequest {
    #[schema(schema_with = fields::sent::<PasswordPolicy>)]
    new_password: Password,
    #[schema(schema_with = fields::sent::<LinkToken>)]
    otp: String,
}

pub const RESET: Endpoint = Endpoint::post("/api/auth/email/reset-password", |method| on(method, reset))
    .named("resetPassword", "Set a new password with a reset token")
    .about("Ends every session of the user and opens none. A password that breaks a rule does not use up the token, nor \
         does the challenge of an account with two-step sign-in, whose answer gives the token that resets.")
    .access(Access::Public)
    .body::<ResetPasswordRequest>(
        || json!({ "newPassword": "staple of the battery", "otp": LinkToken::SENT.example }),
    )
    .responds::<MessageBody>("The password was changed.")
    .errors(&[&codes::INVALID_CODE, &codes::WEAK_PASSWORD, &codes::SECOND_FACTOR_REQUIRED, &codes::TOO_MANY_REQUESTS]);

pub async fn reset(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<ResetPasswordRequest>,
) -> Result<Json<MessageBody>> {
    let token = LinkToken::parse(&body.otp).ok_or(&INVALID_CODE)?;
    match app.service.passwords.reset_password(token, body.new_password, &client.to_sign_in()).await? {
        ResetOutcome::Reset => {
            Ok(Json(MessageBody { message: "The password was changed. Sign in with the new one." }))
        }
        ResetOutcome::Challenged(challenge) => {
            Err(ApiError::second_factor_required(&ChallengeBody::from(challenge)))
        }
    }
}
