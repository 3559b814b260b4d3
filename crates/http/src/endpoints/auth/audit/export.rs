//! `GET /api/auth/audit/export`: the filtered audit log as JSON lines.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use axum::routing::on;
use futures_util::stream::{self, Stream};
use http::HeaderValue;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use latchkey_domain::audit::{AuditEvent, AuditFilter};
use latchkey_domain::ids::EventId;
use latchkey_service::admin::EventPage;
use latchkey_service::{Error, Service};

use super::{EventBody, query};
use crate::app::App;
use crate::caller::AdminWith;
use crate::endpoint::{Access, Content, Endpoint};
use crate::error::Result;
use crate::openapi::headers;

/// Number of events that are read from the database at once, and kept in memory.
const PAGE: u32 = 500;

const CONTENT_OF_LINES: HeaderValue = HeaderValue::from_static(Content::JsonLines.as_str());
const FILE: HeaderValue = HeaderValue::from_static("attachment; filename=\"audit.jsonl\"");

pub const EXPORT: Endpoint = Endpoint::get("/api/auth/audit/export", |method| on(method, export))
    .named("exportAuditEvents", "Export the audit trail")
    .about(
        "All events that pass the filter, newest first, as JSON lines. The file is written while it is read. If it breaks \
         off, the rest follows with the id of the last event in `before`.",
    )
    .access(Access::Admin)
    .parameters(query::DESCRIBED_OF_EXPORT)
    .responds_with_lines::<EventBody>("One event a line.", &[headers::CONTENT_DISPOSITION]);

pub async fn export(State(app): State<App>, admin: AdminWith) -> Result<Response> {
    let known = admin.query.knowing(query::NAMES_OF_EXPORT)?;
    let (filter, before) = (query::filter(&known)?, query::before(&known)?);
    Ok(file(app.service, filter, before).await?)
}

/// Builds the response with the file: one event a line, read from the database while it is sent. A failure of the
/// database on the way breaks the response off.
pub async fn file(
    service: Arc<Service>,
    filter: AuditFilter,
    before: Option<EventId>,
) -> latchkey_service::Result<Response> {
    let first = service.admin.list_events(filter, before, PAGE).await?;
    Ok(response(Body::from_stream(lines(service, filter, first))))
}

/// Builds the response with the file that has no events.
#[must_use]
pub fn empty_file() -> Response {
    response(Body::empty())
}

fn response(body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, CONTENT_OF_LINES);
    response.headers_mut().insert(CONTENT_DISPOSITION, FILE);
    response
}

/// Returns the events of a page and of those after it, each page as a chunk of lines.
fn lines(
    service: Arc<Service>,
    filter: AuditFilter,
    first: EventPage,
) -> impl Stream<Item = std::result::Result<Bytes, Error>> {
    stream::try_unfold(Some(Next::Read(first)), move |next| {
        let service = Arc::clone(&service);
        async move {
            let page = match next {
                None => return Ok(None),
                Some(Next::Read(page)) => page,
                Some(Next::After(id)) => service.admin.list_events(filter, Some(id), PAGE).await?,
            };
            Ok(Some((chunk(page.events), page.next.map(Next::After))))
        }
    })
}

enum Next {
    /// The page is read.
    Read(EventPage),
    /// The page after this event is to be read.
    After(EventId),
}

fn chunk(events: Vec<AuditEvent>) -> Bytes {
    events.into_iter().map(|event| EventBody::from(event).line()).collect::<String>().into()
}
