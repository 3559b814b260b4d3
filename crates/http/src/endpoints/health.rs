//! `/health`: liveness and readiness, for load balancers and supervisors.

use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::routing::on;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::endpoint::Endpoint;
use crate::error::{ApiError, Result, codes};
use crate::json::Json;
use crate::openapi::fields;

/// State of the service, as one word.
#[derive(Serialize, ToSchema)]
#[schema(as = Health)]
pub struct HealthBody {
    #[schema(schema_with = fields::health_status)]
    status: &'static str,
}

pub const LIVE: Endpoint = Endpoint::get("/health/live", |method| on(method, live))
    .named("getLiveness", "Whether the process runs")
    .responds::<HealthBody>("It runs.")
    .without_storage();

/// Responds 200 whenever the process runs.
pub async fn live() -> Json<HealthBody> {
    Json(HealthBody { status: "live" })
}

pub const READY: Endpoint = Endpoint::get("/health/ready", |method| on(method, ready))
    .named("getReadiness", "Whether the service can work")
    .about("Ready when the storage reads and writes, and no stop has begun.")
    .responds::<HealthBody>("It can.");

/// Responds 200 if the storage can read and write, otherwise 503 `STORAGE_UNAVAILABLE`. The storage is checked at most
/// once a second. A process that is about to stop responds 503 `SERVICE_BUSY`.
pub async fn ready(State(app): State<App>) -> Result<Json<HealthBody>> {
    if app.is_stopping.load(Ordering::Relaxed) {
        return Err(ApiError::from(&codes::SERVICE_BUSY));
    }
    app.service.readiness.check().await?;
    Ok(Json(HealthBody { status: "ready" }))
}
