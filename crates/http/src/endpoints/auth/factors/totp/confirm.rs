//! `POST /api/auth/factors/totp/confirm`: completes the enrolment of an authenticator app by its first correct code.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use http::{HeaderMap, StatusCode};
use latchkey_domain::codes::SixDigitCode;
use latchkey_domain::factors::FactorId;
use latchkey_domain::shape::Shaped;
use latchkey_service::factors::{ConfirmedTotp, FactorEnroller};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::openapi::schema::AnyOfBuilder;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::super::{EnrolmentBody, FactorBody, TwoStepOnBody, challenge_id, factor_id, grouped};
use crate::app::App;
use crate::bearer::{BearerToken, Credentials};
use crate::body::JsonBody;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint, NamedSchema};
use crate::endpoints::auth::session::{Saying, session_with};
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::fields;
use crate::openapi::headers::SET_COOKIE;
use crate::openapi::parameters;

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

/// The response to a correct first code: the new session if the app turned two-step sign-in on, the app alone if it was
/// on before.
pub struct ConfirmedBody;

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
    .responds_with::<ConfirmedBody>(StatusCode::OK, "The app is confirmed.", &[SET_COOKIE])
    .errors(&[&codes::FEATURE_DISABLED, &codes::INVALID_CHALLENGE, &codes::INVALID_SECOND_FACTOR, &codes::NOT_FOUND]);

pub async fn confirm(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
    body: Result<JsonBody<Map<String, Value>>>,
) -> Result<Response> {
    let bearer = Credentials::of(&headers).bearer;
    let body = EnrolmentBody::new(body, bearer.as_ref())?;
    let (enroller, request) = if body.names_challenge() {
        let request: ConfirmRequest = body.read()?;
        (FactorEnroller::Challenge(challenge_id(request.challenge_id.as_deref())?), request)
    } else {
        let caller = app.service.sessions.authenticate(bearer.as_ref().map(BearerToken::expose)).await?;
        (FactorEnroller::Session(caller), body.read()?)
    };
    let id = factor_id(&request.factor_id)?;
    match app.service.factors.confirm_totp(enroller, id, request.code, &client.to_sign_in()).await? {
        ConfirmedTotp::TurnedOn { entrance, client_type, factor, recovery_codes } => {
            session_with(&app, client_type, *entrance, Saying::Nothing, |session| TwoStepOnBody {
                session,
                factor: Some(factor.into()),
                recovery_codes: grouped(&recovery_codes),
            })
        }
        ConfirmedTotp::Added(factor) => Ok(Json(FactorBody { factor: factor.into() }).into_response()),
    }
}

impl PartialSchema for ConfirmedBody {
    fn schema() -> RefOr<Schema> {
        AnyOfBuilder::new()
            .description(Some(
                "The new session with the recovery codes, if two-step sign-in was off; else the app alone.",
            ))
            .item(Ref::from_schema_name(TwoStepOnBody::name()))
            .item(Ref::from_schema_name(FactorBody::name()))
            .into()
    }
}

impl ToSchema for ConfirmedBody {
    fn name() -> std::borrow::Cow<'static, str> {
        "ConfirmedTotp".into()
    }

    fn schemas(schemas: &mut Vec<NamedSchema>) {
        TwoStepOnBody::schemas(schemas);
        FactorBody::schemas(schemas);
        schemas.push((TwoStepOnBody::name().into_owned(), TwoStepOnBody::schema()));
        schemas.push((FactorBody::name().into_owned(), FactorBody::schema()));
    }
}
