//! `POST /api/auth/factors/two-step`: turns two-step sign-in on or off.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use http::StatusCode;
use latchkey_service::factors::TwoStepSet;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{TwoStepOnBody, turned_on};
use crate::app::App;
use crate::body::JsonBody;
use crate::caller::FreshUser;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::MessageBody;
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::headers::SET_COOKIE;
use crate::openapi::parameters;

/// Request to turn two-step sign-in on or off.
#[derive(Deserialize, ToSchema)]
#[schema(as = SetTwoStepRequest)]
pub struct SetRequest {
    /// True to turn two-step sign-in on, false to turn it off.
    enabled: bool,
}

/// The response to a change of two-step sign-in.
#[derive(ToSchema)]
#[schema(as = TwoStepSet)]
#[serde(untagged)]
#[expect(clippy::large_enum_variant, reason = "describes the response; no value of it is made")]
pub enum SetBody {
    /// After turning two-step sign-in on: the new session, with the recovery codes.
    On(TwoStepOnBody),
    /// After turning two-step sign-in off, or if it already had the requested state: a message.
    Message(MessageBody),
}

pub const SET: Endpoint = Endpoint::post("/api/auth/factors/two-step", |method| on(method, set))
    .named("setTwoStep", "Turn two-step sign-in on or off")
    .about(
        "Needs a fresh access token. On: needs a second factor; every session ends, the calling one too, and a new one \
         opens. Off: removes authenticator apps and recovery codes. `confirmTotp` turns it on by itself.",
    )
    .access(Access::User)
    .parameters(&[parameters::client_type])
    .body::<SetRequest>(|| json!({ "enabled": false }))
    .responds_with::<SetBody>(StatusCode::OK, "Two-step sign-in is as it should be.", &[SET_COOKIE])
    .errors(&[
        &codes::EMAIL_NOT_VERIFIED,
        &codes::FEATURE_DISABLED,
        &codes::FORBIDDEN,
        &codes::LAST_SECOND_FACTOR,
        &codes::LAST_OWNER,
        &codes::REAUTHENTICATION_REQUIRED,
    ]);

pub async fn set(
    State(app): State<App>,
    FreshUser(caller): FreshUser,
    client: ClientInfo,
    JsonBody(body): JsonBody<SetRequest>,
) -> Result<Response> {
    let said = |message| Ok(Json(MessageBody { message }).into_response());
    match app.service.factors.set_two_step(&caller, body.enabled, &client.to_sign_in()).await? {
        TwoStepSet::TurnedOn(on) => turned_on(&app, on, |session, recovery_codes| TwoStepOnBody {
            session,
            factor: None,
            recovery_codes,
        }),
        TwoStepSet::TurnedOff => {
            said("Two-step sign-in is off; authenticator apps and recovery codes were removed.")
        }
        TwoStepSet::Unchanged if body.enabled => said("Two-step sign-in was on already."),
        TwoStepSet::Unchanged => said("Two-step sign-in was off already."),
    }
}
