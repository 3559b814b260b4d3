//! `POST /api/auth/factors/totp/confirm`: completes the enrolment of an authenticator app by its first correct code.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use http::{HeaderMap, StatusCode};
use latchkey_domain::codes::SixDigitCode;
use latchkey_domain::factors::FactorId;
use latchkey_domain::shape::Shaped;
use latchkey_service::factors::ConfirmedTotp;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::super::{EnrolmentCall, FactorBody, TwoStepOnBody, enrolment, factor_id, turned_on};
use crate::app::App;
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::headers::SET_COOKIE;
use crate::openapi::{fields, parameters, shapes};

/// Request to confirm an authenticator app.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConfirmTotpRequest)]
pub struct ConfirmRequest {
    #[schema(schema_with = fields::sent::<FactorId>)]
    factor_id: String,
    #[schema(schema_with = fields::totp_code)]
    code: SixDigitCode,
    #[schema(schema_with = fields::enrolling_challenge)]
    challenge_id: Option<String>,
}

pub const CONFIRM: Endpoint = Endpoint::post("/api/auth/factors/totp/confirm", |method| on(method, confirm))
    .named("confirmTotp", "Confirm an authenticator app")
    .about(
        "The first app turns two-step sign-in on: every session of the user ends, the calling one too, a new one opens, \
         and the recovery codes are shown this once. By the session or challenge that began it. The fifth wrong code \
         drops the app.",
    )
    .access(Access::PublicOrUser)
    .parameters(&[parameters::client_type])
    .body::<ConfirmRequest>(|| json!({ "factorId": FactorId::SENT.example, "code": "123456" }))
    .responds_with::<shapes::ConfirmedTotp>(StatusCode::OK, "The app is confirmed.", &[SET_COOKIE])
    .errors(&[&codes::FEATURE_DISABLED, &codes::INVALID_CHALLENGE, &codes::INVALID_SECOND_FACTOR, &codes::NOT_FOUND]);

pub async fn confirm(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
    body: Result<JsonBody<Map<String, Value>>>,
) -> Result<Response> {
    let call = EnrolmentCall::Complete;
    let (enroller, request) =
        enrolment(&app, &headers, body, call, |request: &ConfirmRequest| request.challenge_id.as_deref())
            .await?;
    let id = factor_id(&request.factor_id)?;
    match app.service.factors.confirm_totp(enroller, id, request.code, &client.to_sign_in()).await? {
        ConfirmedTotp::TurnedOn(on, factor) => turned_on(&app, on, |session, recovery_codes| TwoStepOnBody {
            session,
            factor: Some(factor.into()),
            recovery_codes,
        }),
        ConfirmedTotp::Added(factor) => Ok(Json(FactorBody { factor: factor.into() }).into_response()),
    }
}
