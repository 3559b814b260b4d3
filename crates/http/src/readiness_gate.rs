//! The readiness gate: answers 503 until the database is ready, then passes requests to the service. Listeners and
//! connections stay open.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::get;
use tower::ServiceExt;

use crate::endpoints::health;
use crate::error::{ApiError, codes};

/// A one-way switch from the routes that answer 503 to the routes of the service.
#[derive(Clone, Default)]
pub struct ReadinessGate(Arc<OnceLock<Router>>);

impl ReadinessGate {
    /// Builds a router that serves `unready` until [`ReadinessGate::open`] is called, and the service from then on.
    pub fn before(&self, unready: Router) -> Router {
        let gate = self.clone();
        Router::new().fallback(async move |request: Request| -> Response {
            let behind = gate.0.get().unwrap_or(&unready).clone();
            answer(behind.oneshot(request).await)
        })
    }

    /// Passes all further requests to `service`. Later calls have no effect.
    pub fn open(&self, service: Router) {
        let _ = self.0.set(service); // only the first call has an effect
    }
}

/// Builds the routes while the database is not ready: liveness, and 503 for all else.
pub fn not_ready() -> Router {
    Router::new()
        .route("/health/live", get(health::live))
        .fallback(async || ApiError::from(&codes::STORAGE_UNAVAILABLE))
}

fn answer(answered: Result<Response, Infallible>) -> Response {
    match answered {
        Ok(response) => response,
        Err(never) => match never {},
    }
}
