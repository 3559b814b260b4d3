//! `POST /api/auth/import/{id}/undo`: deletes the accounts of an import again.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::ids::ImportId;
use latchkey_domain::operator::Party;
use latchkey_service::imports::UndoneImport;
use serde::Serialize;
use utoipa::ToSchema;

use super::id_of;
use crate::admin_input::{AdminBody, NoKeys};
use crate::app::App;
use crate::caller::Admin;
use crate::endpoint::{Access, Endpoint};
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::parameters;
use crate::path::PathText;

/// Accounts of an import that was undone.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UndoneImport)]
pub(super) struct UndoneBody {
    /// Accounts that were deleted.
    deleted: u64,
    /// Accounts that stay because they have signed in.
    signed_in: u64,
    /// Accounts that stay because they were changed since, or have a role in the console.
    changed: u64,
    /// Accounts that were gone already.
    gone: u64,
}

impl From<UndoneImport> for UndoneBody {
    fn from(undone: UndoneImport) -> Self {
        let UndoneImport { deleted, signed_in, changed, gone } = undone;
        Self { deleted, signed_in, changed, gone }
    }
}

pub const UNDO: Endpoint = Endpoint::post("/api/auth/import/{id}/undo", |method| on(method, undo))
    .named("undoImport", "Delete the accounts of an import again")
    .about(
        "For 30 days: deletes the accounts that the import created, unless they have signed in or were changed since. If \
         the response breaks off, the deletion goes on; call it again for what is left.",
    )
    .access(Access::Admin)
    .parameters(&[parameters::id::<ImportId>])
    .no_body()
    .responds::<UndoneBody>("The accounts are deleted.")
    .errors(&[&codes::NOT_FOUND, &codes::IMPORT_RUNNING, &codes::IMPORT_NOT_UNDOABLE]);

pub(super) async fn undo(
    State(app): State<App>,
    admin: Admin,
    PathText(id): PathText,
    _: AdminBody<NoKeys>,
) -> Result<Json<UndoneBody>> {
    let imports = &app.service.imports;
    Ok(Json(imports.undo_to_the_end(id_of(&id)?, Party::Admin, admin.0.to_domain()).await?.into()))
}
