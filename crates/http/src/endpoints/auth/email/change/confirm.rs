//! `POST /api/auth/email/change/confirm`: completes a change of one's own email address by the mailed
//! codes.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use http::StatusCode;
use latchkey_domain::email_change::EmailChangeId;
use latchkey_domain::shape::Shaped;
use latchkey_service::email_change::{EmailChangeStep, EnteredCodes};
use latchkey_service::refusal::EMAIL_CHANGE_NOT_FOUND;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::{needs, words};
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::SignedInUser;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::auth::UserBody;
use crate::endpoints::auth::session::of_app;
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::fields;

/// Request body of the operation `confirmEmailChange`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfirmEmailChangeRequest {
    #[schema(schema_with = fields::sent::<EmailChangeId>)]
    change_id: String,
    #[schema(schema_with = fields::new_email_code)]
    new_code: Option<String>,
    #[schema(schema_with = fields::current_email_code)]
    current_code: Option<String>,
}

/// The addresses that are still to be proven.
#[derive(Serialize, ToSchema)]
#[schema(as = EmailChangeNeeds)]
pub struct NeedsBody {
    #[schema(schema_with = needs)]
    needs: Vec<&'static str>,
}

/// The user with the new address. The session continues.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EmailChanged)]
pub struct ChangedBody {
    user: UserBody,
    #[schema(schema_with = fields::access_token)]
    access_token: String,
}

/// The response to codes none of which was wrong.
#[derive(ToSchema)]
#[schema(as = EmailChangeConfirmed)]
#[serde(untagged)]
pub enum ConfirmedBody {
    /// The address was changed.
    Changed(ChangedBody),
    /// Something is to be proven yet.
    Needs(NeedsBody),
}

pub const CONFIRM: Endpoint = Endpoint::post("/api/auth/email/change/confirm", |method| on(method, confirm))
    .named("confirmEmailChange", "Confirm the change of one's email address")
    .about(
        "Takes the codes of the mails, together or one after the other. A wrong one is refused; a right one beside it \
         counts. With the last one the address is changed and verified, the other sessions of the user end, and both \
         addresses get a mail; that to the old one can undo the change for a while. Until then the old address is \
         reserved for the account.",
    )
    .access(Access::User)
    .body::<ConfirmEmailChangeRequest>(
        || json!({ "changeId": EmailChangeId::SENT.example, "newCode": "123456", "currentCode": "654321" }),
    )
    .responds_with::<ConfirmedBody>(StatusCode::OK, "No code was wrong.", &[])
    .errors(&[&codes::EMAIL_EXISTS, &codes::INVALID_CODE, &codes::NOT_FOUND, &codes::TOO_MANY_REQUESTS]);

pub async fn confirm(
    State(app): State<App>,
    SignedInUser(caller): SignedInUser,
    client: ClientInfo,
    JsonBody(body): JsonBody<ConfirmEmailChangeRequest>,
) -> Result<Response> {
    let id: EmailChangeId = body.change_id.parse().map_err(|_| &EMAIL_CHANGE_NOT_FOUND)?;
    let codes = EnteredCodes { new: body.new_code, current: body.current_code };
    Ok(match app.service.email_changes.confirm(caller, id, codes, &client.to_domain()).await? {
        EmailChangeStep::Changed { user, access } => {
            let access_token = of_app(access)?.token;
            Json(ChangedBody { user: UserBody::new(&app.service, &user), access_token }).into_response()
        }
        EmailChangeStep::Needs(sides) => Json(NeedsBody { needs: words(&sides) }).into_response(),
    })
}
