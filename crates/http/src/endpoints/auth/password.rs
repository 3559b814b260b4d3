//! `POST /api/auth/password`: changePassword.

use axum::extract::State;
use http::HeaderMap;
use latchkey_domain::password::Password;
use serde::{Deserialize, Serialize};

use crate::answer::Json;
use crate::app::App;
use crate::bearer::Credentials;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::error::Result;

/// The body of changePassword.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangePasswordRequest {
    current_password: Password,
    new_password: Password,
}

/// A sentence.
#[derive(Serialize)]
pub struct MessageBody {
    message: &'static str,
}

/// `POST /api/auth/password`
pub async fn change(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
    JsonBody(body): JsonBody<ChangePasswordRequest>,
) -> Result<Json<MessageBody>> {
    let bearer = Credentials::of(&headers).bearer;
    let bearer = bearer.as_ref().map(|token| token.expose());
    app.service.change_password(bearer, body.current_password, body.new_password, client.to_domain()).await?;
    Ok(Json(MessageBody { message: "The password was changed; all other sessions were ended." }))
}
