//! The router, built from the list of endpoints.

use axum::Router;
use axum::routing::MethodRouter;

use crate::api;
use crate::app::App;
use crate::caller::public_calls;
use crate::endpoint::{Access, Endpoint};
use crate::metrics::exposition;

/// Builds the routes of all endpoints. The pages under `/dev` are included in development mode only.
/// [`crate::middleware::Middleware::wrap`] adds the middleware.
pub fn router(app: App) -> Router {
    routes(app, exposition::of_service, |_| true)
}

/// Builds the routes of `/health` alone, for a listener of its own.
pub fn health(app: App) -> Router {
    routes(app, |routes| routes, |endpoint| endpoint.path.starts_with("/health/"))
}

/// Builds the routes of the endpoints that are wanted. `add` adds others.
fn routes(app: App, add: fn(Router<App>) -> Router<App>, is_wanted: fn(&Endpoint) -> bool) -> Router {
    let mut paths: Vec<(&str, Vec<&Endpoint>)> = Vec::new();
    for endpoint in api::endpoints().filter(|endpoint| is_wanted(endpoint)) {
        if endpoint.access == Access::Development && !app.settings.development {
            continue;
        }
        match paths.iter_mut().find(|(path, _)| *path == endpoint.path) {
            Some((_, endpoints)) => endpoints.push(endpoint),
            None => paths.push((endpoint.path, vec![endpoint])),
        }
    }
    let routes = paths
        .into_iter()
        .fold(Router::new(), |routes, (path, endpoints)| routes.route(path, methods(&app, &endpoints)));
    add(routes).with_state(app)
}

/// Registers the methods of one path, in the order of the `Allow` header. If all of them are public, `auth.anon_key`
/// (where the settings require it) is checked before an unsupported method gets 405.
fn methods(app: &App, endpoints: &[&Endpoint]) -> MethodRouter<App> {
    let is_public = endpoints.iter().all(|endpoint| endpoint.access.wants_anon_key());
    let methods = endpoints.iter().fold(MethodRouter::new(), |methods, endpoint| {
        let route = endpoint.route();
        methods.merge(if endpoint.access.wants_anon_key() && !is_public {
            route.route_layer(public_calls(app.clone()))
        } else {
            route
        })
    });
    if is_public { methods.layer(public_calls(app.clone())) } else { methods }
}
