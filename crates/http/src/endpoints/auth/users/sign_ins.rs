//! `/api/auth/users/{id}/sign-ins`: the last sign-ins of a user, for an admin.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::ids::UserId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::caller::AdminWith;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::auth::audit::EventBody;
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::parameters;
use crate::path::{PathText, user_id};
use crate::query::page_within;

/// The last sign-ins of a user and the last failures, each newest first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserSignIns)]
pub struct SignInsBody {
    /// Completed sign-ins.
    sign_ins: Vec<EventBody>,
    /// Wrong passwords, codes and second factors, and refused passkeys.
    failures: Vec<EventBody>,
}

pub const LIST: Endpoint = Endpoint::get("/api/auth/users/{id}/sign-ins", |method| on(method, list))
    .named("listUserSignIns", "List the last sign-ins of a user")
    .about("The last sign-ins and the last failures, as far back as the audit log goes.")
    .access(Access::Admin)
    .parameters(&[parameters::id::<UserId>, parameters::admin_limit])
    .responds::<SignInsBody>("The sign-ins and the failures, at most `limit` of each.")
    .errors(&[&codes::USER_NOT_FOUND]);

pub async fn list(
    State(app): State<App>,
    admin: AdminWith,
    PathText(id): PathText,
) -> Result<Json<SignInsBody>> {
    let query = admin.query.knowing(&["limit"])?;
    let limit = page_within(query.optional("limit")?.as_deref(), None)?.limit();
    let sign_ins = app.service.admin.sign_ins(user_id(&id)?, limit).await?;
    Ok(Json(SignInsBody {
        sign_ins: sign_ins.completed.into_iter().map(EventBody::from).collect(),
        failures: sign_ins.failed.into_iter().map(EventBody::from).collect(),
    }))
}
