//! The readiness gate: answers 503 until the database is there, then lets requests through to the service. Listeners and
//! connections stay.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::get;
use tower::ServiceExt;

use crate::endpoints::health;
use crate::error::{ApiError, codes};

/// A gate that is closed until the service is ready.
#[derive(Clone, Default)]
pub struct ReadinessGate(Arc<OnceLock<Router>>);

impl ReadinessGate {
    /// Routes that answer as `unready` does until [`ReadinessGate::open`], and then as the service.
    pub fn before(&self, unready: Router) -> Router {
        let gate = self.clone();
        Router::new().fallback(async move |request: Request| -> Response {
            let behind = gate.0.get().unwrap_or(&unready).clone();
            answer(behind.oneshot(request).await)
        })
    }

    /// Lets requests through to the service, from here on and for good.
    pub fn open(&self, service: Router) {
        let _ = self.0.set(service); // a gate that is open stays as it is
    }
}

/// The routes of a service without a database: liveness, and 503 for all else.
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
