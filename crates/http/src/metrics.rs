//! Metrics of requests, recorded by the middleware, and their exposition at `GET /metrics`.

pub mod exposition;

use std::collections::HashMap;
use std::time::Duration;

use http::StatusCode;
use latchkey_domain::words;
use latchkey_domain::words::Word;
use latchkey_metrics::cell::{Cell, Held};
use latchkey_metrics::page::label;
use latchkey_metrics::{About, Collect, Counter, Family, Gauge, Histogram, Named, Page};

use crate::api;

const REQUESTS: About =
    About { name: "http_requests", help: "Responses by route, method and class of status." };
const SECONDS: About = About {
    name: "http_request_seconds",
    help: "Time from the head of a request to its response, by route.",
};
const IN_FLIGHT: About = About { name: "http_in_flight", help: "Requests that have no response yet." };
const LIMITS: About =
    About { name: "limit_refusals", help: "Requests that a limit refused (429), by limit." };

/// Upper bounds in nanoseconds: 10 ms, 100 ms, 1 s.
const BOUNDS: &[u64] = &[10_000_000, 100_000_000, 1_000_000_000];
/// Route of what no endpoint and no page answers: unknown paths, methods that a path does not have, preflights.
const OTHER: &str = "other";
/// Methods that series of [`OTHER`] tell apart.
const METHODS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "OTHER"];
/// Maximum number of limits with series of their own.
const MOST_LIMITS: usize = 48;

words! {
    /// Class of the status of a response. A redirect is the success of a page, so it counts as 2xx.
    enum StatusClass {
        Success = "2xx",
        ClientError = "4xx",
        ServerError = "5xx",
    }
}

/// Metrics of all requests of a process.
pub struct HttpMetrics {
    routes: HashMap<&'static str, Route>,
    other: Route,
    requests: Family<usize, Counter>,
    seconds: Family<usize, Histogram>,
    in_flight: Gauge,
    limits: Named,
}

/// The cells of a route.
struct Route {
    /// Position among the durations.
    position: usize,
    /// Position of each method among the counters.
    methods: Vec<(&'static str, usize)>,
}

/// A request in flight. Dropping it without [`Measured::answered`] counts no response: the client went away.
pub(crate) struct Measured<'a> {
    metrics: &'a HttpMetrics,
    _in_flight: Held<'a>,
}

/// A response, as far as it is recorded.
pub(crate) struct Answer<'a> {
    pub(crate) route: &'a str,
    pub(crate) method: &'static str,
    pub(crate) status: StatusCode,
    pub(crate) limit: Option<&'static str>,
    pub(crate) time: Duration,
}

/// Lists the routes of the API, each with a method.
pub fn routes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let own = [(exposition::PATH, "GET")];
    api::endpoints().map(|endpoint| (endpoint.path, endpoint.method.as_str())).chain(own)
}

impl HttpMetrics {
    /// Creates the metrics of these routes, each with a method: [`routes`], and those of the pages.
    #[must_use]
    pub fn new(routes: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        let mut rows = Rows::default();
        let mut known: HashMap<_, Route> = HashMap::new();
        for (path, method) in routes {
            let route = known.entry(path).or_insert_with(|| rows.add_route(path));
            if route.methods.iter().all(|(other, _)| *other != method) {
                route.methods.push((method, rows.add_method(path, method)));
            }
        }
        let mut other = rows.add_route(OTHER);
        other.methods = METHODS.map(|method| (method, rows.add_method(OTHER, method))).into();
        Self {
            routes: known,
            other,
            requests: Family::of_rows(REQUESTS, rows.requests, Counter::default),
            seconds: Family::of_rows(SECONDS, rows.seconds, || Histogram::of_seconds(BOUNDS)),
            in_flight: Gauge::default(),
            limits: Named::new(LIMITS, "limit", MOST_LIMITS),
        }
    }

    /// Begins a request.
    pub(crate) fn begin(&self) -> Measured<'_> {
        Measured { metrics: self, _in_flight: self.in_flight.hold() }
    }

    fn record(&self, answer: &Answer<'_>) {
        let method = if answer.method == "HEAD" { "GET" } else { answer.method };
        let of_method = |route: &Route, method| {
            let found = route.methods.iter().find(|(known, _)| *known == method);
            found.map(|(_, position)| (route.position, *position))
        };
        let found = self.routes.get(answer.route).and_then(|route| of_method(route, method));
        let found = found.or_else(|| of_method(&self.other, answer.method));
        let (route, request) = found.unwrap_or((self.other.position, self.other.methods[0].1));
        let class = match answer.status.as_u16() {
            ..400 => StatusClass::Success,
            400..500 => StatusClass::ClientError,
            _ => StatusClass::ServerError,
        };
        self.requests.of(request + class.index()).count();
        self.seconds.of(route).record_time(answer.time);
        if let Some(limit) = answer.limit {
            self.limits.count(limit, 0);
        }
    }
}

impl Measured<'_> {
    pub(crate) fn answered(self, answer: &Answer<'_>) {
        self.metrics.record(answer);
    }
}

/// Labels of the cells of routes.
#[derive(Default)]
struct Rows {
    requests: Vec<String>,
    seconds: Vec<String>,
}

impl Rows {
    fn add_route(&mut self, path: &str) -> Route {
        self.seconds.push(label("route", path));
        Route { position: self.seconds.len() - 1, methods: Vec::new() }
    }

    /// Adds a counter per class of status; returns the position of the first.
    fn add_method(&mut self, path: &str, method: &str) -> usize {
        let position = self.requests.len();
        let route = [label("route", path), label("method", method)].join(",");
        let rows =
            StatusClass::ALL.iter().map(|class| [&route, ",", &label("status", class.as_str())].concat());
        self.requests.extend(rows);
        position
    }
}

impl Collect for HttpMetrics {
    fn collect(&self, page: &mut Page) {
        self.requests.write(page);
        self.seconds.write(page);
        page.begin(IN_FLIGHT, Gauge::KIND);
        self.in_flight.write(page, "");
        self.limits.write(page);
    }

    fn most_series(&self) -> usize {
        self.requests.most_series() + self.seconds.most_series() + 1 + self.limits.most_series()
    }
}
