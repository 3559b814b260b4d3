//! `POST /api/auth/users/{id}/password`: sets the password of a user, for an admin.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::Party;
use latchkey_domain::password::{Password, PasswordPolicy};
use latchkey_domain::shape::Shaped;
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

/// Request of an admin to set a password.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SetUserPasswordRequest)]
pub struct SetPasswordRequest {
    #[schema(schema_with = fields::sent::<PasswordPolicy>)]
    new_password: Password,
}

impl AdminRequest for SetPasswordRequest {}

pub const SET: Endpoint = Endpoint::post("/api/auth/users/{id}/password", |method| on(method, set))
    .named("setUserPassword", "Set a user's password")
    .about(
        "Ends all sessions, and kills outstanding codes and links. Two-step sign-in stays as it is. The user gets a mail.",
    )
    .access(Access::Admin)
    .parameters(&[parameters::id::<UserId>])
    .body::<SetPasswordRequest>(|| json!({ "newPassword": PasswordPolicy::SENT.example }))
    .responds::<MessageBody>("The password is set.")
    .errors(&[&codes::USER_NOT_FOUND, &codes::WEAK_PASSWORD, &codes::OPERATOR_PROTECTED, &codes::SERVICE_BUSY]);

pub async fn set(
    State(app): State<App>,
    Admin(client): Admin,
    PathText(id): PathText,
    AdminBody(body): AdminBody<SetPasswordRequest>,
) -> Result<Json<MessageBody>> {
    let (id, client) = (user_id(&id)?, client.to_domain());
    app.service.admin.set_password(id, body.new_password, Party::Admin, Some(&client)).await?;
    Ok(Json(MessageBody { message: "The password was set, and all sessions ended." }))
}
