//! The metrics of the process: those of requests, of the service once it is built, and of the operating system.

mod process;

use std::sync::Arc;

use axum::Router;
use latchkey_hosted::page_routes;
use latchkey_http::metrics::exposition::listener;
use latchkey_http::metrics::{HttpMetrics, routes};
use latchkey_http::middleware::Middleware;
use latchkey_metrics::Registry;
use latchkey_service::Service;

use self::process::ProcessMetrics;
pub(crate) use self::process::REVISION;

/// The metrics of a running process.
pub(crate) struct Metrics {
    pub(crate) registry: Arc<Registry>,
    pub(crate) requests: Arc<HttpMetrics>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let requests = Arc::new(HttpMetrics::new(routes().chain(page_routes())));
        let registry = Arc::new(Registry::default());
        registry.add(Arc::new(ProcessMetrics::start()));
        registry.add(Arc::clone(&requests) as _);
        Self { registry, requests }
    }

    /// Adds the metrics of the service and its storage.
    pub(crate) fn add_service(&self, service: &Arc<Service>) {
        self.registry.add(Arc::clone(service) as _);
    }

    /// Builds the routes of the listener of the metrics.
    pub(crate) fn listener(&self, middleware: &Middleware) -> Router {
        middleware.for_pages().wrap(listener(Arc::clone(&self.registry)))
    }
}
