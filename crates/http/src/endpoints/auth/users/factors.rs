//! `/api/auth/users/{id}/factors`: a user's second factors, for an admin.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::Party;
use latchkey_domain::reason::Reason;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin_input::{AdminBody, NoKeys};
use crate::app::App;
use crate::caller::{Admin, AdminWith};
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::MessageBody;
use crate::endpoints::auth::factors::TotpBody;
use crate::endpoints::auth::passkeys::PasskeyFactsBody;
use crate::error::{ApiError, Result, codes};
use crate::json::Json;
use crate::openapi::{fields, parameters};
use crate::path::{PathText, user_id};

/// A user's second factors, without secrets.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserFactors)]
pub struct FactorsBody {
    /// True if two-step sign-in is on.
    two_step: bool,
    /// The confirmed authenticator apps, oldest first.
    totp: Vec<TotpBody>,
    /// The passkeys, oldest first.
    passkeys: Vec<PasskeyFactsBody>,
    #[schema(schema_with = fields::count)]
    recovery_codes_left: u32,
}

pub const GET: Endpoint = Endpoint::get("/api/auth/users/{id}/factors", |method| on(method, get))
    .named("getUserFactors", "Read a user's second factors")
    .access(Access::Admin)
    .parameters(&[parameters::id::<UserId>])
    .responds::<FactorsBody>("The factors.")
    .errors(&[&codes::USER_NOT_FOUND]);

pub async fn get(State(app): State<App>, _: Admin, PathText(id): PathText) -> Result<Json<FactorsBody>> {
    let account = app.service.factors.of_user(user_id(&id)?).await?;
    Ok(Json(FactorsBody {
        two_step: account.user.has_two_step(),
        passkeys: account
            .factors
            .passkeys
            .iter()
            .map(|one| PasskeyFactsBody::new(&app.service, one))
            .collect(),
        totp: account.factors.totp.into_iter().map(TotpBody::from).collect(),
        recovery_codes_left: account.factors.recovery_codes_left,
    }))
}

pub const RESET: Endpoint = Endpoint::delete("/api/auth/users/{id}/factors", |method| on(method, reset))
    .named("resetUserFactors", "Remove a user's second factors")
    .about(
        "For a user who lost the authenticator app and the recovery codes: removes both, and passkeys on request, turns \
         two-step sign-in off and ends all sessions. The user gets a mail.",
    )
    .access(Access::Admin)
    .parameters(&[parameters::id::<UserId>, parameters::with_passkeys])
    .no_body()
    .responds::<MessageBody>("The factors are removed.")
    .errors(&[&codes::USER_NOT_FOUND, &codes::OPERATOR_PROTECTED, &codes::LAST_OWNER]);

pub async fn reset(
    State(app): State<App>,
    admin: AdminWith,
    PathText(id): PathText,
    _: AdminBody<NoKeys>,
) -> Result<Json<MessageBody>> {
    let with_passkeys = admin.query.knowing(&["passkeys"])?.optional("passkeys")?;
    let with_passkeys = read_flag(with_passkeys.as_deref())?;
    let (id, client) = (user_id(&id)?, admin.client.to_domain());
    app.service.factors.reset(id, with_passkeys, Party::Admin, Some(&client)).await?;
    Ok(Json(MessageBody { message: "The second factors were removed, and all sessions ended." }))
}

/// Parses the value of the parameter `passkeys`.
fn read_flag(value: Option<&str>) -> Result<bool> {
    match value {
        Some("true") => Ok(true),
        None | Some("false") => Ok(false),
        Some(_) => {
            Err(ApiError::validation("passkeys", "must be `true` or `false`").reason(Reason::NotAllowed))
        }
    }
}
