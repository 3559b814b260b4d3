//! `/api/auth/import`: imports of accounts from other services, for an admin.

pub mod report;
mod undo;

use axum::extract::{FromRequest, Request, State};
use axum::routing::on;
use http::StatusCode;
use latchkey_domain::ids::ImportId;
use latchkey_domain::imports::{ConflictPolicy, ImportJob, ImportState, ProblemCode};
use latchkey_domain::operator::Party;
use latchkey_domain::reason::Reason;
use latchkey_domain::shape::Shape;
use latchkey_domain::time::Timestamp;
use latchkey_service::imports::{ImportOptions, Upload};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa::openapi::schema::{AdditionalProperties, SchemaType};
use utoipa::openapi::{ObjectBuilder, Type};

use crate::app::App;
use crate::body::FileBody;
use crate::caller::{Admin, AdminWith};
use crate::endpoint::{Access, Endpoint};
use crate::error::{ApiError, Result, codes};
use crate::json::Json;
use crate::openapi::{fields, parameters};
use crate::path::PathText;

pub use report::REPORT;
pub use undo::UNDO;

/// An import.
#[derive(Serialize, ToSchema)]
#[schema(as = ImportResponse)]
pub struct ImportResponse {
    job: ImportBody,
}

/// An import of accounts from another service.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Import)]
pub struct ImportBody {
    #[schema(schema_with = fields::shown::<ImportId>)]
    id: ImportId,
    #[schema(schema_with = state)]
    state: &'static str,
    /// Name of the format.
    from: String,
    /// Whether nothing but the report is written.
    dry_run: bool,
    /// Records that were read.
    read: u64,
    /// Accounts that were created.
    created: u64,
    /// Accounts that got something that they lacked.
    updated: u64,
    /// Records whose account stayed as it was.
    skipped: u64,
    /// Records that were refused.
    refused: u64,
    /// Number of problems, by code.
    #[schema(schema_with = problems)]
    problems: Map<String, Value>,
    #[schema(schema_with = started)]
    started_at: Timestamp,
    #[schema(schema_with = ended, required)]
    ended_at: Option<Timestamp>,
}

impl From<ImportJob> for ImportBody {
    fn from(job: ImportJob) -> Self {
        let counts = job.counts;
        Self {
            id: job.id,
            state: job.state.as_str(),
            from: job.from,
            dry_run: job.is_dry_run,
            read: counts.read,
            created: counts.created,
            updated: counts.updated,
            skipped: counts.skipped,
            refused: counts.refused,
            problems: counts.problems_json(),
            started_at: job.started_at,
            ended_at: job.ended_at,
        }
    }
}

fn state() -> ObjectBuilder {
    let about = "`failed`: it ended early; an import of the same file goes on.";
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(about))
        .enum_values(Some(ImportState::ALL.iter().map(|state| state.as_str())))
}

fn problems() -> ObjectBuilder {
    let count = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
    let codes: Vec<_> = ProblemCode::ALL.iter().map(|code| format!("`{code}`")).collect();
    ObjectBuilder::new()
        .schema_type(SchemaType::Type(Type::Object))
        .description(Some(format!("Number of problems by code: {}.", codes.join(", "))))
        .additional_properties(Some(AdditionalProperties::RefOr(count.into())))
}

fn started() -> ObjectBuilder {
    fields::moment("When it began, in UTC.")
}

fn ended() -> ObjectBuilder {
    fields::or_null(Shape { ..fields::moment_shape("When it ended, in UTC; `null` while it runs.") })
}

pub const START: Endpoint = Endpoint::post("/api/auth/import", |method| on(method, start))
    .named("startImport", "Take accounts over from another service")
    .about(
        "Imports a file of at most 10 MiB (`import.max_upload_kib`); larger ones are imported with `latchkey import` on the \
         machine. The import goes on after the response. Nobody gets a mail.",
    )
    .access(Access::Admin)
    .parameters(&[
        parameters::import_format,
        parameters::import_dry_run,
        parameters::import_policy,
        parameters::import_realm,
    ])
    .file("The file, in the format that `from` names.")
    .responds_with::<ImportResponse>(StatusCode::ACCEPTED, "The import has begun.", &[])
    .errors(&[&codes::VALIDATION_ERROR, &codes::FORMAT_UNKNOWN, &codes::IMPORT_RUNNING, &codes::TOO_MANY_REQUESTS]);

pub async fn start(
    State(app): State<App>,
    admin: AdminWith,
    request: Request,
) -> Result<(StatusCode, Json<ImportResponse>)> {
    let known = admin.query.knowing(&["from", "dryRun", "onConflict", "realm"])?;
    let policy = known.optional("onConflict")?;
    let policy = policy.map_or(Some(ConflictPolicy::Skip), |text| ConflictPolicy::parse(&text));
    let policy = policy.ok_or_else(|| {
        ApiError::validation("onConflict", "must be `skip`, `update` or `fail`").reason(Reason::NotAllowed)
    })?;
    let realm = known.optional("realm")?;
    let (from, is_dry_run) = (known.required("from")?, known.flag("dryRun")?.unwrap_or_default());
    let FileBody(bytes) = FileBody::from_request(request, &app).await?;
    let upload = Upload {
        name: None,
        from,
        bytes: bytes.into(),
        options: ImportOptions { realm, ..ImportOptions::default() },
        policy,
        is_dry_run,
    };
    let job = app.service.imports.upload(upload, Party::Admin, Some(&admin.client.to_domain())).await?;
    Ok((StatusCode::ACCEPTED, Json(ImportResponse { job: job.into() })))
}

pub const GET: Endpoint = Endpoint::get("/api/auth/import/{id}", |method| on(method, get))
    .named("getImport", "Read an import")
    .access(Access::Admin)
    .parameters(&[parameters::id::<ImportId>])
    .responds::<ImportResponse>("The import.")
    .errors(&[&codes::NOT_FOUND]);

pub async fn get(State(app): State<App>, _: Admin, PathText(id): PathText) -> Result<Json<ImportResponse>> {
    Ok(Json(ImportResponse { job: app.service.imports.find(id_of(&id)?).await?.into() }))
}

/// Parses the id of an import; 404 if it is none.
fn id_of(text: &str) -> Result<ImportId> {
    text.parse().map_err(|_| ApiError::from(&codes::IMPORT_NOT_FOUND))
}
