//! `POST /api/auth/password`: changePassword.

use axum::extract::State;
use axum::routing::on;
use http::HeaderMap;
use latchkey_domain::password::{Password, PasswordPolicy};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::Result;
use crate::error::codes;
use crate::json::Json;
use crate::openapi::fields;

/// The body of changePassword.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangePasswordRequest {
    #[schema(schema_with = fields::sent::<Password>)]
    current_password: Password,
    #[schema(schema_with = fields::sent::<PasswordPolicy>)]
    new_password: Password,
}

/// A sentence.
#[derive(Serialize, ToSchema)]
#[schema(as = Message)]
pub struct MessageBody {
    #[schema(schema_with = fields::message)]
    message: &'static str,
}

/// Change of the password.
pub const CHANGE: Endpoint = Endpoint::post("/api/auth/password", |method| on(method, change))
    .named("changePassword", "Change one's password")
    .about(
        "Needs the current password, under the guess limits of sign-in. Ends all other sessions of the user.",
    )
    .access(Access::User)
    .body::<ChangePasswordRequest>(
        || json!({ "currentPassword": "correct horse battery", "newPassword": "staple of the battery" }),
    )
    .responds::<MessageBody>("The password was changed.")
    .errors(&[&codes::WEAK_PASSWORD, &codes::INVALID_CREDENTIALS, &codes::TOO_MANY_REQUESTS]);

/// `POST /api/auth/password`
pub async fn change(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
    body: Result<JsonBody<ChangePasswordRequest>>,
) -> Result<Json<MessageBody>> {
    let bearer = Credentials::of(&headers).bearer;
    let bearer = bearer.as_ref().map(BearerToken::expose);
    let body = match body {
        Ok(JsonBody(body)) => body,
        Err(refusal) => {
            // Who may not call is told so before anything is said about the body.
            app.service.sessions.authenticate(bearer).await?;
            return Err(refusal);
        }
    };
    app.service
        .passwords
        .change(bearer, body.current_password, body.new_password, client.to_domain())
        .await?;
    Ok(Json(MessageBody { message: "The password was changed; all other sessions were ended." }))
}
