//! The networks whose clients may open the console (`console.allowed_networks`).

use std::convert::Infallible;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use latchkey_http::client::is_from;
use tower::ServiceExt;

use super::state::Console;

/// The console, and what other clients find in its place.
#[derive(Clone)]
pub(super) struct Guarded {
    pub(super) console: Console,
    /// Routes of nothing, which answer 404 as if the console were off.
    pub(super) elsewhere: Router,
}

/// Layer that lets only the clients of these networks in.
pub(super) async fn check(State(guarded): State<Guarded>, request: Request, next: Next) -> Response {
    let Guarded { console, elsewhere } = guarded;
    let networks = &console.entry.allowed_networks;
    if networks.is_empty() || is_from(networks, &request, &console.settings) {
        return next.run(request).await;
    }
    let answered: Result<Response, Infallible> = elsewhere.oneshot(request).await;
    match answered {
        Ok(response) => response,
        Err(never) => match never {},
    }
}
