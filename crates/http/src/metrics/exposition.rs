//! `GET /metrics`: the exposition of all metrics. On the listener of its own everybody who reaches it may read it; at
//! the service's address an admin key is needed, and without one the path does not exist.

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use http::header::{ACCEPT, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use latchkey_metrics::{Format, Registry};

use crate::app::App;
use crate::bearer::{ApiKeyHeader, Credentials};
use crate::caller::AdminWith;
use crate::error::{ApiError, Result};

pub(super) const PATH: &str = "/metrics";

/// Media type of `OpenMetrics`.
const OPEN_METRICS: &str = "application/openmetrics-text";

/// Builds the routes of the listener that answers nothing else.
pub fn listener(registry: Arc<Registry>) -> Router {
    Router::new().route(PATH, get(show)).with_state(registry)
}

/// Adds the path to the routes of the service.
pub(crate) fn of_service(routes: Router<App>) -> Router<App> {
    // With any method: another one, and a missing `Allow`, tell a stranger no more than an unknown path does.
    routes.route(PATH, any(show_to_admin))
}

async fn show(State(registry): State<Arc<Registry>>, headers: HeaderMap) -> Response {
    expose(&registry, &headers)
}

/// A request without any key writes no audit event, in contrast to one with a wrong key.
async fn show_to_admin(State(app): State<App>, request: Request) -> Result<Response> {
    let not_found = || ApiError::of_status(StatusCode::NOT_FOUND);
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(not_found());
    }
    let registry = app.metrics.as_deref().ok_or_else(not_found)?;
    let (mut parts, _) = request.into_parts();
    let credentials = Credentials::of(&parts.headers);
    if credentials.bearer.is_none() && matches!(credentials.api_key, ApiKeyHeader::Missing) {
        return Err(not_found());
    }
    AdminWith::from_request_parts(&mut parts, &app).await.map_err(|_| not_found())?;
    Ok(expose(registry, &parts.headers))
}

fn expose(registry: &Registry, headers: &HeaderMap) -> Response {
    let format = format_of(headers);
    let type_header = HeaderValue::from_static(format.content_type());
    let headers = [(CONTENT_TYPE, type_header), (VARY, HeaderValue::from_static("Accept"))];
    (headers, registry.expose(format)).into_response()
}

/// Returns `OpenMetrics` if the client accepts it at least as much as plain text (RFC 9110 section 12.5.1).
fn format_of(headers: &HeaderMap) -> Format {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let (mut open, mut plain) = (0.0, 0.0);
    for range in accepted.flat_map(|value| value.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let parameters = || parts.clone().filter_map(|part| part.split_once('='));
        let of = |wanted: &str| parameters().find(|(name, _)| *name == wanted).map(|(_, value)| value);
        let weight = of("q").and_then(|q| q.parse::<f32>().ok()).unwrap_or(1.0);
        let has_version = |version| of("version").is_none_or(|given| given.trim_matches('"') == version);
        if name.eq_ignore_ascii_case(OPEN_METRICS) && has_version("1.0.0") {
            open = weight.max(open);
        } else if name.eq_ignore_ascii_case("text/plain") && has_version("0.0.4") {
            plain = weight.max(plain);
        }
    }
    if open > 0.0 && open >= plain { Format::OpenMetrics } else { Format::Text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(accept: &str) -> Format {
        format_of(&HeaderMap::from_iter([(ACCEPT, HeaderValue::from_str(accept).unwrap())]))
    }

    #[test]
    fn open_metrics_is_sent_to_whom_asks_for_it() {
        for accept in [
            "application/openmetrics-text",
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
             text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            "text/plain;q=0.3, application/openmetrics-text; version=1.0.0; charset=utf-8; q=0.4",
            "application/openmetrics-text; version=\"1.0.0\"; charset=utf-8",
        ] {
            assert_eq!(format(accept), Format::OpenMetrics, "{accept}");
        }
    }

    #[test]
    fn everybody_else_gets_text() {
        for accept in [
            "",
            "*/*",
            "text/plain",
            "text/html,application/xhtml+xml,*/*;q=0.8",
            "application/openmetrics-text;version=0.0.1",
            "application/openmetrics-text;version=\"0.0.1\"",
            "application/openmetrics-text;q=0",
            "application/openmetrics-text;q=0.2,text/plain",
        ] {
            assert_eq!(format(accept), Format::Text, "{accept}");
        }
        assert_eq!(format_of(&HeaderMap::new()), Format::Text);
    }
}
