//! `/health`: for load balancers and supervisors.

use axum::extract::State;
use serde::Serialize;

use crate::answer::Json;
use crate::app::App;
use crate::error::Result;

/// A word.
#[derive(Serialize)]
pub struct HealthBody {
    status: &'static str,
}

/// `GET /health/live`: the process runs.
pub async fn live() -> Json<HealthBody> {
    Json(HealthBody { status: "live" })
}

/// `GET /health/ready`: the storage reads and writes; else 503 `STORAGE_UNAVAILABLE`.
pub async fn ready(State(app): State<App>) -> Result<Json<HealthBody>> {
    app.service.check_ready().await?;
    Ok(Json(HealthBody { status: "ready" }))
}
