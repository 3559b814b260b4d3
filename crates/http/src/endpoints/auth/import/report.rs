//! `GET /api/auth/import/{id}/report`: the report of an import as JSON lines.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use axum::routing::on;
use futures_util::stream::{self, Stream};
use http::HeaderValue;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use latchkey_domain::ids::{ImportId, UserId};
use latchkey_domain::imports::{ProblemCode, RecordOutcome};
use latchkey_service::Error;
use latchkey_service::imports::{Imports, ReportPosition};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, Type};

use super::id_of;
use crate::app::App;
use crate::caller::Admin;
use crate::endpoint::{Access, Content, Endpoint};
use crate::error::{Result, codes};
use crate::openapi::{headers, parameters};
use crate::path::PathText;

const CONTENT_OF_LINES: HeaderValue = HeaderValue::from_static(Content::JsonLines.as_str());
const FILE: HeaderValue = HeaderValue::from_static("attachment; filename=\"import.jsonl\"");

/// A line of the report: a problem with a record, or the new id of an account whose id could not be kept.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ImportReportLine)]
pub(super) struct LineBody {
    /// Line of the file at which the record begins.
    line: Option<u64>,
    #[schema(schema_with = outcome)]
    outcome: Option<&'static str>,
    #[schema(schema_with = code)]
    code: Option<&'static str>,
    /// Field of the record that the problem is about.
    field: Option<String>,
    /// What is wrong, without the value.
    message: Option<String>,
    /// Id in the source.
    imported_id: Option<String>,
    /// Id of the account.
    #[schema(schema_with = crate::openapi::fields::shown::<UserId>)]
    id: Option<UserId>,
}

fn outcome() -> ObjectBuilder {
    let words = RecordOutcome::ALL.iter().map(|outcome| outcome.as_str());
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words))
}

fn code() -> ObjectBuilder {
    let words = ProblemCode::ALL.iter().map(|code| code.as_str());
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words))
}

pub const REPORT: Endpoint = Endpoint::get("/api/auth/import/{id}/report", |method| on(method, report))
    .named("getImportReport", "Read the report of an import")
    .about("Kept for 30 days after the import began. The file is written while it is read.")
    .access(Access::Admin)
    .parameters(&[parameters::id::<ImportId>])
    .responds_with_lines::<LineBody>(
        "A line for each problem and each new id.",
        &[headers::CONTENT_DISPOSITION],
    )
    .errors(&[&codes::NOT_FOUND]);

pub(super) async fn report(State(app): State<App>, _: Admin, PathText(id): PathText) -> Result<Response> {
    let id = id_of(&id)?;
    Ok(file(Arc::clone(&app.service.imports), id).await?)
}

/// Builds the response with the file of an import that exists, which is read while it is sent.
pub async fn file(imports: Arc<Imports>, id: ImportId) -> latchkey_service::Result<Response> {
    imports.find(id).await?;
    let mut response = Response::new(Body::from_stream(lines(imports, id)));
    response.headers_mut().insert(CONTENT_TYPE, CONTENT_OF_LINES);
    response.headers_mut().insert(CONTENT_DISPOSITION, FILE);
    Ok(response)
}

/// Returns the lines, each page as a chunk. A failure of the database on the way breaks the response off.
fn lines(imports: Arc<Imports>, id: ImportId) -> impl Stream<Item = std::result::Result<Bytes, Error>> {
    stream::try_unfold(ReportPosition::default(), move |position| {
        let imports = Arc::clone(&imports);
        async move {
            let (lines, next) = imports.report_page(id, position).await?;
            let chunk: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
            Ok((!lines.is_empty()).then(|| (Bytes::from(chunk), next)))
        }
    })
}
