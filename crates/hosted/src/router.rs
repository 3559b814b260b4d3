//! The router of the pages, built from their list, and the routers of the listeners.

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::any;
use latchkey_domain::redirect::RedirectEntry;
use latchkey_http::app::App;
use latchkey_http::middleware::Middleware;
use latchkey_http::router::{health, router as api};

use crate::console::{self, Console};
use crate::errors::{self, PageError};
use crate::hosted::Hosted;
use crate::list::PAGES;
use crate::page::Page;
use crate::visit::Visit;
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

/// Returns the page of the console that providers lead back to, as a redirect target. `origin` is that of the console.
#[must_use]
pub fn console_target(origin: &str) -> Option<RedirectEntry> {
    RedirectEntry::parse(&format!("{origin}{}", console::PROVIDER_BACK)).ok()
}

/// Lists the routes of pages, console and files, each with a method, for the metrics.
pub fn page_routes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let pages = PAGES.iter().copied().chain([&start::PAGE]).flat_map(Page::routes);
    pages.chain(console::routes()).chain([(assets::PATH, "GET")])
}

/// The routers of the listeners.
pub struct Routers {
    /// API and pages, and the console if it has no listener of its own.
    pub main: Router,
    /// The console alone, for its own listener.
    pub console: Option<Router>,
}

/// Builds the routers. `pages` and `console` are `None` if they are off.
pub fn routers(
    app: App,
    pages: Option<Hosted>,
    console: Option<Console>,
    middleware: &Middleware,
) -> Routers {
    let api = middleware.wrap(api(app.clone()));
    let has_pages = pages.is_some();
    let url = console.as_ref().map(|console| format!("{}/console", console.settings.public_origin()));
    let pages = pages.map(|pages| router(pages.with_console(url), middleware));
    let main = pages.unwrap_or_default().merge(api);
    match console {
        Some(console) if console.has_own_listener() => {
            let files = console::files(console.clone(), middleware);
            let health = middleware.wrap(health(app));
            let own = console::router(console, middleware).merge(files).merge(health);
            Routers { main, console: Some(own) }
        }
        Some(console) => {
            let files = (!has_pages).then(|| console::files(console.clone(), middleware));
            let main = console::router(console, middleware).merge(files.unwrap_or_default()).merge(main);
            Routers { main, console: None }
        }
        None => Routers { main, console: None },
    }
}

/// Builds the routes of all pages, wrapped in the middleware. The start page exists only in development.
fn router(hosted: Hosted, middleware: &Middleware) -> Router {
    let start = hosted.settings.development.then_some(&start::PAGE);
    let pages = PAGES.iter().copied().chain(start);
    let routes = pages.fold(Router::new(), |routes, page| routes.route(page.path, (page.methods)()));
    // A visit that fails has told its language before.
    let unknown = || any(async |_: Result<Visit, PageError>| PageError::not_found());
    let routes = UNKNOWN.into_iter().fold(routes, |routes, path| routes.route(path, unknown()));
    let routes = routes.layer(from_fn_with_state(hosted.clone(), host::check::<Hosted>));
    let routes = routes.merge(assets::routes()).with_state(hosted.clone());
    middleware.for_pages().wrap(routes).layer(from_fn_with_state(hosted, errors::show::<Hosted>))
}
