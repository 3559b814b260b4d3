//! The router of the pages, built from their list.

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::any;
use latchkey_domain::redirect::RedirectEntry;
use latchkey_http::middleware::Middleware;

use crate::errors::{self, PageError};
use crate::hosted::Hosted;
use crate::list::PAGES;
use crate::{assets, host, start};

/// Paths below which every unknown path is an error page.
const UNKNOWN: [&str; 3] = ["/auth", "/auth/", "/auth/{*rest}"];

/// Pages that mailed links and providers lead to.
const TARGETS: [&str; 5] =
    ["/auth/verified", "/auth/reset", "/auth/mail-code", "/auth/invitation", "/auth/provider/return"];

/// Returns the pages that are redirect targets without being on the operator's list. `origin` is that of the service.
#[must_use]
pub fn own_targets(origin: &str) -> Vec<RedirectEntry> {
    TARGETS.iter().filter_map(|path| RedirectEntry::parse(&format!("{origin}{path}")).ok()).collect()
}

/// Builds the routes of all pages, wrapped in the middleware. The start page exists only in
/// development.
pub fn router(hosted: Hosted, middleware: &Middleware) -> Router {
    let start = hosted.settings.development.then_some(&start::PAGE);
    let pages = PAGES.iter().copied().chain([&assets::PAGE]).chain(start);
    let routes = pages.fold(Router::new(), |routes, page| routes.route(page.path, (page.methods)()));
    let unknown = || any(async || PageError::not_found());
    let routes = UNKNOWN.into_iter().fold(routes, |routes, path| routes.route(path, unknown()));
    let routes = routes.layer(from_fn_with_state(hosted.clone(), host::check)).with_state(hosted.clone());
    middleware.for_pages().wrap(routes).layer(from_fn_with_state(hosted, errors::show))
}
