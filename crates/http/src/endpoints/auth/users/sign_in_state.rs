//! `GET /api/auth/users/{id}/sign-in-state`: why a user cannot sign in, for an admin.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::ids::UserId;
use latchkey_domain::obstacle::{Obstacle, VerificationMail};
use latchkey_domain::time::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, Type};

use super::limits::LimitBody;
use crate::app::App;
use crate::caller::Admin;
use crate::endpoint::{Access, Endpoint};
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::{fields, parameters};
use crate::path::{PathText, user_id};

/// Whether a user can sign in, and what is in the way.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserSignInState)]
pub struct SignInStateBody {
    /// True if a sign-in is possible, from some client at least. Limits that close every way to all clients make it false.
    can_sign_in: bool,
    /// What is in the way, the weightiest first; empty if nothing is.
    obstacles: Vec<ObstacleBody>,
}

/// A reason why a user cannot sign in, or not as usual.
#[derive(Serialize, ToSchema)]
#[schema(as = SignInObstacle)]
pub struct ObstacleBody {
    #[schema(schema_with = kind)]
    kind: &'static str,
    #[schema(schema_with = since, required)]
    since: Option<Timestamp>,
    #[schema(schema_with = until, required)]
    until: Option<Timestamp>,
    /// The last mail by which an unverified address can be verified; `null` if none was written in the last 30 days, and for
    /// other kinds.
    #[schema(required)]
    mail: Option<VerificationMailBody>,
    /// The limit of an obstacle of the kind `limited`; otherwise `null`.
    #[schema(required)]
    limit: Option<LimitBody>,
}

/// The last mail by which an address can be verified.
#[derive(Serialize, ToSchema)]
#[schema(as = VerificationMail)]
pub struct VerificationMailBody {
    /// `queued`, `sent` (accepted by the mail server) or `dead` (given up for good).
    state: &'static str,
    #[schema(schema_with = moment_of_mail)]
    at: Timestamp,
}

fn kind() -> ObjectBuilder {
    let about = "`banned`, `no_way` (no password, usable passkey or linked provider, and no sign-in by mail), `unverified`, \
                 `no_factor` (two-step sign-in without a second factor), `deletion` (a sign-in takes it back), \
                 `must_enroll` (the next sign-in sets up a second factor) or `limited`.";
    fields::of_type(Type::String, about).enum_values(Some(Obstacle::NAMES))
}

fn since() -> ObjectBuilder {
    fields::or_null(fields::moment_shape(
        "Since when, in UTC: of the ban, or of the address that is not verified; otherwise `null`.",
    ))
}

fn until() -> ObjectBuilder {
    fields::or_null(fields::moment_shape(
        "Until when, in UTC: of the account in deletion, or of the limit; otherwise `null`.",
    ))
}

fn moment_of_mail() -> ObjectBuilder {
    fields::moment("When it was sent or given up, or when it was written while it waits, in UTC.")
}

impl ObstacleBody {
    fn new(obstacle: &Obstacle) -> Self {
        let kind = obstacle.name();
        let plain = Self { kind, since: None, until: None, mail: None, limit: None };
        match *obstacle {
            Obstacle::Banned { since } => Self { since: Some(since), ..plain },
            Obstacle::Unverified { since, mail, .. } => {
                Self { since: Some(since), mail: mail.map(VerificationMailBody::new), ..plain }
            }
            Obstacle::Deletion { until } => Self { until: Some(until), ..plain },
            Obstacle::Limited { held, .. } => {
                Self { until: held.until, limit: Some(LimitBody::new(&held)), ..plain }
            }
            Obstacle::NoWay | Obstacle::NoFactor | Obstacle::MustEnroll => plain,
        }
    }
}

impl VerificationMailBody {
    const fn new(mail: VerificationMail) -> Self {
        match mail {
            VerificationMail::Queued { since } => Self { state: "queued", at: since },
            VerificationMail::Sent { at } => Self { state: "sent", at },
            VerificationMail::Dead { at } => Self { state: "dead", at },
        }
    }
}

pub const GET: Endpoint = Endpoint::get("/api/auth/users/{id}/sign-in-state", |method| on(method, get))
    .named("getUserSignInState", "Say why a user cannot sign in")
    .about(
        "What is in the way of a sign-in: a ban, an address that is not verified with the fate of the last mail, no way to \
         sign in, a missing second factor, a deletion by the owner, which a sign-in takes back, a second factor that must be \
         set up at the next sign-in, or a limit.",
    )
    .access(Access::Admin)
    .parameters(&[parameters::id::<UserId>])
    .responds::<SignInStateBody>("Whether the user can sign in, and what is in the way.")
    .errors(&[&codes::USER_NOT_FOUND]);

pub async fn get(State(app): State<App>, _: Admin, PathText(id): PathText) -> Result<Json<SignInStateBody>> {
    let state = app.service.admin.why_no_sign_in(user_id(&id)?).await?;
    let obstacles = state.obstacles.iter().map(ObstacleBody::new).collect();
    Ok(Json(SignInStateBody { can_sign_in: state.can_sign_in(), obstacles }))
}
