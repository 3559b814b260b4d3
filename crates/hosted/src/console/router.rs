//! The router of the console, built from the list of its pages.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::any;
use latchkey_http::middleware::Middleware;

use super::list::{PAGES, has};
use super::networks::Guarded;
use super::state::Console;
use super::stop::Stop;
use super::visit::Arrival;
use super::{again, kept, networks};
use crate::errors::{self, PageError};
use crate::{assets, host};

/// Paths below which every unknown path is an error page.
const UNKNOWN: [&str; 3] = ["/console", "/console/", "/console/{*rest}"];

/// Builds the routes of all pages, wrapped in the middleware.
pub(crate) fn router(console: Console, middleware: &Middleware) -> Router {
    let routes = PAGES.iter().fold(Router::new(), |routes, page| routes.route(page.path, (page.methods)()));
    let unknown = || any(unknown);
    let unknown_paths = UNKNOWN.into_iter().filter(|path| !has(path));
    let routes = unknown_paths.fold(routes, |routes, path| routes.route(path, unknown()));
    let resubmitted = routes.clone().with_state(console.clone());
    let routes = routes.layer(from_fn_with_state(resubmitted, kept::resubmit));
    let routes = routes.layer(from_fn_with_state(console.clone(), again::answer));
    let routes = routes.layer(from_fn_with_state(console.clone(), host::check::<Console>));
    wrap(routes, console, middleware)
}

/// Answers an unknown path: in the frame of the operator, if there is one.
async fn unknown(arrival: Arrival) -> Stop {
    match arrival {
        Arrival::SignedIn(visit) => visit.not_found(),
        Arrival::Guest(..) => PageError::not_found().into(),
    }
}

/// Builds the route of the files that the console loads, for a listener without the pages.
pub(crate) fn files(console: Console, middleware: &Middleware) -> Router {
    wrap(assets::routes(), console, middleware)
}

fn wrap(routes: Router<Console>, console: Console, middleware: &Middleware) -> Router {
    let routes = routes.with_state(console.clone());
    let routes = middleware.for_pages_at(Arc::clone(&console.settings)).wrap(routes);
    let routes = routes.layer(from_fn_with_state(console.clone(), errors::show::<Console>));
    let guarded = Guarded { console, elsewhere: middleware.wrap(Router::new()) };
    routes.layer(from_fn_with_state(guarded, networks::check))
}
