//! A service that waits for its database: what it answers until then, and the change to the service itself. The
//! listeners and the connections stay; only what stands behind them changes.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::get;
use tower::ServiceExt;

use crate::endpoints::health;
use crate::error::{ApiError, codes};

/// A door that is closed until the service is there.
#[derive(Clone, Default)]
pub struct Door(Arc<OnceLock<Router>>);

impl Door {
    /// Routes that answer as `waiting` does until [`Door::open`], and then as the service.
    pub fn before(&self, waiting: Router) -> Router {
        let door = self.clone();
        Router::new().fallback(async move |request: Request| -> Response {
            let behind = door.0.get().unwrap_or(&waiting).clone();
            answer(behind.oneshot(request).await)
        })
    }

    /// Lets requests through to the service, from here on and for good.
    pub fn open(&self, service: Router) {
        let _ = self.0.set(service); // a door that is open stays as it is
    }
}

/// The routes of a service that has no database yet: the process lives, and nothing else works.
pub fn waiting() -> Router {
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
