//! `/api/auth/users/{id}/limits`: the limits that hold for a user, for an admin.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::account_limits::{HeldLimit, RefusedClients};
use latchkey_domain::codes::Purpose;
use latchkey_domain::ids::UserId;
use latchkey_domain::operator::Party;
use latchkey_domain::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, Type};

use crate::admin_input::{AdminBody, NoKeys};
use crate::app::App;
use crate::caller::Admin;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::MessageBody;
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::{fields, parameters};
use crate::path::{PathText, user_id};

/// The limits that hold for a user now.
#[derive(Serialize, ToSchema)]
#[schema(as = UserLimits)]
pub struct LimitsBody {
    data: Vec<LimitBody>,
}

/// A limit that refuses requests for a user now.
#[derive(Serialize, ToSchema)]
#[schema(as = UserLimit)]
pub struct LimitBody {
    /// Name of the limit, as in the error response of a request that it refuses.
    limit: &'static str,
    /// What the refused mails or codes are for, such as `verify_email`; `null` for other limits.
    #[schema(required)]
    purpose: Option<&'static str>,
    #[schema(schema_with = clients)]
    clients: &'static str,
    #[schema(schema_with = until, required)]
    until: Option<Timestamp>,
}

impl LimitBody {
    pub(super) fn new(held: &HeldLimit) -> Self {
        let HeldLimit { limit, purpose, clients, until, .. } = *held;
        Self { limit, purpose: purpose.map(Purpose::as_str), clients: clients.as_str(), until }
    }
}

fn clients() -> ObjectBuilder {
    let about = "Clients that are refused: `all`; `known`, those in networks from which the user signed in lately; `unknown`, \
                 those in all other networks; `some`, those in the networks that caused the failures.";
    fields::of_type(Type::String, about)
        .enum_values(Some(RefusedClients::ALL.iter().map(|clients| clients.as_str())))
}

fn until() -> ObjectBuilder {
    fields::or_null(fields::moment_shape(
        "When requests are accepted again, in UTC; `null` if the limit holds until a success or until it is lifted.",
    ))
}

pub const LIST: Endpoint = Endpoint::get("/api/auth/users/{id}/limits", |method| on(method, list))
    .named("listUserLimits", "List the limits that hold for a user")
    .about(
        "The limits that refuse requests for the user now, on every instance: wrong passwords, second factors and codes, \
         mails to the address, and exports. Limits of a client address alone belong to no user and are not listed; nor are \
         those of a single session.",
    )
    .access(Access::Admin)
    .parameters(&[parameters::id::<UserId>])
    .responds::<LimitsBody>("The limits; none, if nothing is refused.")
    .errors(&[&codes::USER_NOT_FOUND]);

pub async fn list(State(app): State<App>, _: Admin, PathText(id): PathText) -> Result<Json<LimitsBody>> {
    let held = app.service.admin.list_limits(user_id(&id)?).await?;
    Ok(Json(LimitsBody { data: held.iter().map(LimitBody::new).collect() }))
}

pub const LIFT: Endpoint = Endpoint::delete("/api/auth/users/{id}/limits", |method| on(method, lift))
    .named("liftUserLimits", "Lift the limits that hold for a user")
    .about("Clears the counters of failures of the user, so that every limit counts from the start again.")
    .access(Access::Admin)
    .parameters(&[parameters::id::<UserId>])
    .no_body()
    .responds::<MessageBody>("The limits are lifted.")
    .errors(&[&codes::USER_NOT_FOUND, &codes::OPERATOR_PROTECTED]);

pub async fn lift(
    State(app): State<App>,
    Admin(client): Admin,
    PathText(id): PathText,
    _: AdminBody<NoKeys>,
) -> Result<Json<MessageBody>> {
    let client = client.to_domain();
    app.service.admin.lift_limits(user_id(&id)?, Party::Admin, Some(&client)).await?;
    Ok(Json(MessageBody { message: "The limits were lifted." }))
}
