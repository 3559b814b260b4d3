//! `POST /api/auth/email/exchange-reset-password-token`: exchanges a mailed reset code for a reset token.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::codes::EnteredCode;
use latchkey_domain::email::Email;
use latchkey_domain::time::Timestamp;
use latchkey_domain::tokens::LinkToken;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::code;
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::Result;
use crate::error::codes;
use crate::json::Json;
use crate::openapi::fields;

/// Request body of the operation `exchangeResetPasswordToken`.
#[derive(Deserialize, ToSchema)]
#[schema(as = ExchangeResetPasswordTokenRequest)]
pub struct ExchangeRequest {
    #[schema(schema_with = fields::sent::<Email>)]
    email: Email,
    #[schema(schema_with = fields::sent::<EnteredCode>)]
    code: String,
}

/// A token that allows one password reset.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ResetToken)]
pub struct ResetTokenBody {
    #[schema(schema_with = fields::shown::<LinkToken>)]
    token: String,
    #[schema(schema_with = fields::token_expiry)]
    expires_at: Timestamp,
}

impl ResetTokenBody {
    pub(crate) fn new(token: &LinkToken, expires_at: Timestamp) -> Self {
        Self { token: token.expose().to_owned(), expires_at }
    }
}

pub const EXCHANGE: Endpoint =
    Endpoint::post("/api/auth/email/exchange-reset-password-token", |method| on(method, exchange))
        .named("exchangeResetPasswordToken", "Exchange a reset code for a reset token")
        .about("For `resetPasswordMethod` = `code`. The code is used up.")
        .access(Access::Public)
        .body::<ExchangeRequest>(|| json!({ "code": "123456", "email": "ada@example.org" }))
        .responds::<ResetTokenBody>("The reset token.")
        .errors(&[&codes::INVALID_CODE, &codes::TOO_MANY_REQUESTS]);

pub async fn exchange(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<ExchangeRequest>,
) -> Result<Json<ResetTokenBody>> {
    let reset =
        app.service.passwords.exchange_reset_code(body.email, code(&body.code)?, client.to_domain()).await?;
    Ok(Json(ResetTokenBody::new(&reset.token, reset.expires_at)))
}
