//! The router, made of the list of endpoints.

use axum::Router;
use axum::routing::MethodRouter;

use crate::api;
use crate::app::App;
use crate::caller::public_calls;
use crate::endpoint::{Access, Endpoint};

/// Routes every endpoint; those of development in development mode alone. The layers around the router are put on by
/// [`crate::middleware::Middleware::wrap`].
pub fn router(app: App) -> Router {
    let mut paths: Vec<(&str, Vec<&Endpoint>)> = Vec::new();
    for endpoint in api::endpoints() {
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
    routes.with_state(app)
}

/// The methods of a path, in the order of `Allow`. The anonymous key is checked before a 405, too, where every method of
/// the path is public.
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
