//! `/api/auth/users/{id}/mails`: the mails to a user, for an admin.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::ids::{MailId, UserId};
use latchkey_domain::time::Timestamp;
use latchkey_service::outbox::ListedMail;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::caller::AdminWith;
use crate::endpoint::{Access, Endpoint};
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::{fields, parameters};
use crate::path::{PathText, user_id};
use crate::query::page_within;

/// The mails to a user, newest first.
#[derive(Serialize, ToSchema)]
#[schema(as = UserMails)]
pub struct MailsBody {
    data: Vec<MailBody>,
}

/// A mail to a user and its fate, without its content.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UserMail)]
pub struct MailBody {
    #[schema(schema_with = fields::shown::<MailId>)]
    id: MailId,
    /// Kind of the mail, as `docs/mails.md` lists them.
    kind: &'static str,
    /// Address to which the mail was written.
    email: String,
    /// `queued`, `sent` (accepted by the mail server) or `dead` (given up for good).
    state: &'static str,
    /// Number of attempts to send it.
    attempts: u32,
    #[schema(schema_with = fields::moment_created)]
    created_at: Timestamp,
    #[schema(schema_with = fields::mail_end, required)]
    ended_at: Option<Timestamp>,
    /// Error of the last failed attempt, without addresses and codes; `null` if there is none.
    #[schema(required)]
    error: Option<String>,
}

impl From<ListedMail> for MailBody {
    fn from(mail: ListedMail) -> Self {
        Self {
            id: mail.id,
            kind: mail.kind.as_str(),
            email: mail.email.as_typed().to_owned(),
            state: mail.state.as_str(),
            attempts: mail.attempts,
            created_at: mail.created_at,
            ended_at: mail.ended_at,
            error: mail.last_error,
        }
    }
}

pub const LIST: Endpoint = Endpoint::get("/api/auth/users/{id}/mails", |method| on(method, list))
    .named("listUserMails", "List the mails to a user")
    .about("The mails of the last 30 days and their fate, newest first; never their content.")
    .access(Access::Admin)
    .parameters(&[parameters::id::<UserId>, parameters::admin_limit])
    .responds::<MailsBody>("The mails.")
    .errors(&[&codes::USER_NOT_FOUND]);

pub async fn list(
    State(app): State<App>,
    admin: AdminWith,
    PathText(id): PathText,
) -> Result<Json<MailsBody>> {
    let query = admin.query.knowing(&["limit"])?;
    let limit = page_within(query.optional("limit")?.as_deref(), None)?.limit();
    let mails = app.service.admin.list_mails(user_id(&id)?, limit).await?;
    Ok(Json(MailsBody { data: mails.into_iter().map(MailBody::from).collect() }))
}
