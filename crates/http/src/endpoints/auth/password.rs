//! `POST /api/auth/password`: changes the user's own password, or sets the first one.

use axum::extract::State;
use axum::routing::on;
use http::HeaderMap;
use latchkey_domain::password::{Password, PasswordPolicy};
use latchkey_domain::reason::Reason;
use serde::{Deserialize, Deserializer};
use serde_json::json;
use utoipa::ToSchema;

use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::MessageBody;
use crate::error::{ApiError, Result, codes};
use crate::json::Json;
use crate::openapi::fields;

/// Request body of the operation `changePassword`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangePasswordRequest {
    /// The current password. Left out only by an account without one.
    #[serde(default, deserialize_with = "given")]
    #[schema(schema_with = fields::current_password)]
    current_password: Option<Password>,
    #[serde(default, deserialize_with = "given")]
    #[schema(required = true, schema_with = fields::sent::<PasswordPolicy>)]
    new_password: Option<Password>,
}

pub const CHANGE: Endpoint = Endpoint::post("/api/auth/password", |method| on(method, change))
    .named("changePassword", "Change one's password")
    .about(
        "Needs the current password, under the guess limits of sign-in; or, for an account without one, a fresh access \
         token. Ends all other sessions of the user. With two-step sign-in it needs a fresh access token in any case.",
    )
    .access(Access::User)
    .body::<ChangePasswordRequest>(
        || json!({ "currentPassword": "correct horse battery", "newPassword": "staple of the battery" }),
    )
    .responds::<MessageBody>("The password was changed.")
    .errors(&[
        &codes::WEAK_PASSWORD,
        &codes::INVALID_CREDENTIALS,
        &codes::EMAIL_NOT_VERIFIED,
        &codes::REAUTHENTICATION_REQUIRED,
        &codes::TOO_MANY_REQUESTS,
    ]);

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
            // Without a valid session the response is 401, and with a token that is not fresh 403. Only other callers
            // get the error about the body.
            app.service.sessions.fresh_to_set_password(bearer.into()).await?;
            return Err(refusal);
        }
    };
    let (passwords, client) = (&app.service.passwords, client.to_domain());
    let ChangePasswordRequest { current_password, new_password } = body;
    let Some(new_password) = new_password else {
        app.service.sessions.fresh_to_set_password(bearer.into()).await?;
        // If both fields are missing, the message names the first one, as for every other body.
        let field = if current_password.is_none() { "currentPassword" } else { "newPassword" };
        return Err(ApiError::validation(field, "is required").reason(Reason::Required));
    };
    let Some(current_password) = current_password else {
        passwords.set(bearer, new_password, client).await?;
        return Ok(Json(MessageBody { message: "The password was set; all other sessions were ended." }));
    };
    passwords.change(bearer, current_password, new_password, client).await?;
    Ok(Json(MessageBody { message: "The password was changed; all other sessions were ended." }))
}

/// Reads a password that is present; `null` is an error.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Password>, D::Error> {
    Password::deserialize(deserializer).map(Some)
}
