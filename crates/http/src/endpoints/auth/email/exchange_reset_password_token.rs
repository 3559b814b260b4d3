//! `POST /api/auth/email/exchange-reset-password-token`: a code for a reset token.

use axum::extract::State;
use latchkey_domain::email::Email;
use latchkey_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::code;
use crate::answer::Json;
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::error::Result;

/// The body of exchangeResetPasswordToken.
#[derive(Deserialize)]
pub struct ExchangeRequest {
    email: Email,
    code: String,
}

/// A reset token.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResetTokenBody {
    token: String,
    expires_at: Timestamp,
}

/// `POST /api/auth/email/exchange-reset-password-token`
pub async fn exchange(
    State(app): State<App>,
    client: ClientInfo,
    JsonBody(body): JsonBody<ExchangeRequest>,
) -> Result<Json<ResetTokenBody>> {
    let reset = app.service.exchange_reset_code(body.email, code(&body.code)?, client.to_domain()).await?;
    Ok(Json(ResetTokenBody { token: reset.token.expose().to_owned(), expires_at: reset.expires_at }))
}
