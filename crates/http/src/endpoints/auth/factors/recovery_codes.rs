//! `POST /api/auth/factors/recovery-codes`: replaces the recovery codes.

use axum::extract::State;
use axum::routing::on;
use serde::Serialize;
use utoipa::ToSchema;

use super::grouped;
use crate::app::App;
use crate::caller::FreshUser;
use crate::client::ClientInfo;
use crate::endpoint::{Access, Endpoint};
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::fields;

/// New recovery codes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecoveryCodes)]
pub struct RecoveryCodesBody {
    #[schema(schema_with = fields::recovery_codes)]
    recovery_codes: Vec<String>,
}

pub const REPLACE: Endpoint =
    Endpoint::post("/api/auth/factors/recovery-codes", |method| on(method, replace))
        .named("replaceRecoveryCodes", "Make new recovery codes")
        .about("Needs a fresh access token. The old codes are dead. Only while two-step sign-in is on.")
        .access(Access::User)
        .responds::<RecoveryCodesBody>("The new codes, shown this once.")
        .errors(&[&codes::LAST_SECOND_FACTOR, &codes::REAUTHENTICATION_REQUIRED]);

pub async fn replace(
    State(app): State<App>,
    FreshUser(caller): FreshUser,
    client: ClientInfo,
) -> Result<Json<RecoveryCodesBody>> {
    let codes = app.service.factors.replace_recovery_codes(&caller, &client.to_domain()).await?;
    Ok(Json(RecoveryCodesBody { recovery_codes: grouped(&codes) }))
}
