//! `/health`: for load balancers and supervisors.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Json;
use crate::app::App;
use crate::error::Result;
use crate::openapi::fields;

/// A word.
#[derive(Serialize, ToSchema)]
#[schema(as = Health)]
pub struct HealthBody {
    #[schema(schema_with = fields::health_status)]
    status: &'static str,
}

/// `GET /health/live`: the process runs.
pub async fn live() -> Json<HealthBody> {
    Json(HealthBody { status: "live" })
}

/// `GET /health/ready`: the storage reads and writes; else 503 `STORAGE_UNAVAILABLE`. Judged at most once a second.
pub async fn ready(State(app): State<App>) -> Result<Json<HealthBody>> {
    app.service.check_ready().await?;
    Ok(Json(HealthBody { status: "ready" }))
}
