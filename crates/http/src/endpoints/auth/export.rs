//! `GET /api/auth/export`: all accounts as JSON lines, without secrets.

use async_trait::async_trait;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use axum::routing::on;
use futures_util::stream;
use http::HeaderValue;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use latchkey_domain::client::Client;
use latchkey_domain::operator::Party;
use latchkey_domain::reason::Reason;
use latchkey_domain::time::Timestamp;
use latchkey_service::exports::{ExportRequest, Lines, Secrets};
use latchkey_service::{Error, Service};
use serde::Serialize;
use tokio::sync::mpsc;
use utoipa::ToSchema;

use crate::app::App;
use crate::caller::AdminWith;
use crate::endpoint::{Access, Content, Endpoint};
use crate::error::{ApiError, Result, codes};
use crate::openapi::{headers, parameters};

/// Number of pages that are read ahead of the client.
const AHEAD: usize = 2;

const CONTENT_OF_LINES: HeaderValue = HeaderValue::from_static(Content::JsonLines.as_str());
const FILE: HeaderValue = HeaderValue::from_static("attachment; filename=\"latchkey-export.jsonl\"");

/// A line of an export: the head (`latchkey-export`), then accounts (`user`), identity providers (`provider`) and the
/// settings (`settings`), and at last the `end`, with the number of accounts and the SHA-256 of all lines before it. A
/// file without its end is torn. The fields depend on the kind; docs/operations.md lists them.
#[derive(Serialize, ToSchema)]
#[schema(as = InstanceExportLine)]
pub struct LineBody {
    kind: String,
}

pub const EXPORT: Endpoint = Endpoint::get("/api/auth/export", |method| on(method, export))
    .named("exportInstance", "Export all accounts")
    .about(
        "All accounts but pending ones, from one snapshot, as JSON lines that `latchkey import --from latchkey` reads. \
         Without secrets: password hashes, TOTP secrets and passkeys are exported by the command `latchkey export \
         --with-secrets`, and by an owner in the console, alone. With `since`, only accounts that were created or changed at that time or later.",
    )
    .access(Access::Admin)
    .parameters(&[parameters::changed_since])
    .responds_with_lines::<LineBody>("One record a line.", &[headers::CONTENT_DISPOSITION])
    .errors(&[&codes::TOO_MANY_REQUESTS]);

pub async fn export(State(app): State<App>, admin: AdminWith) -> Result<Response> {
    let since = admin.query.knowing(&["since"])?.optional("since")?;
    let since = since.as_deref().map(read_since).transpose()?;
    let request = ExportRequest { secrets: Secrets::Left, since };
    Ok(file(&app.service, request, Party::Admin, &admin.client.to_domain()).await?)
}

/// Builds the response with the file, which is written while it is sent. A failure on the way breaks the response off.
pub async fn file(
    service: &Service,
    request: ExportRequest,
    party: Party,
    client: &Client,
) -> latchkey_service::Result<Response> {
    service.exports.begin(&request, party, Some(client)).await?;
    let (pages, received) = mpsc::channel(AHEAD);
    let exports = service.exports.clone();
    tokio::spawn(async move {
        if let Err(error) = exports.write(request, Box::new(Sender(pages.clone()))).await {
            // The client sees a response that breaks off.
            let _ = pages.send(Err(error)).await;
        }
    });
    let lines = stream::unfold(received, async |mut received| Some((received.recv().await?, received)));
    let mut response = Response::new(Body::from_stream(lines));
    response.headers_mut().insert(CONTENT_TYPE, CONTENT_OF_LINES);
    response.headers_mut().insert(CONTENT_DISPOSITION, FILE);
    Ok(response)
}

fn read_since(text: &str) -> Result<Timestamp> {
    Timestamp::parse(text).ok_or_else(|| {
        let problem = "must be a day such as 2026-03-01, or a time such as 2026-03-01T12:00:00Z";
        ApiError::validation("since", problem).reason(Reason::InvalidFormat)
    })
}

struct Sender(mpsc::Sender<std::result::Result<Bytes, Error>>);

#[async_trait]
impl Lines for Sender {
    async fn take(&mut self, lines: Vec<u8>) -> bool {
        self.0.send(Ok(lines.into())).await.is_ok()
    }
}
