//! `/api/auth/mails`: the mails in the outbox, for an admin.

use axum::extract::State;
use axum::routing::on;
use latchkey_domain::email::Email;
use latchkey_domain::ids::{MailId, UserId};
use latchkey_domain::operator::Party;
use latchkey_domain::reason::Reason;
use latchkey_domain::time::Timestamp;
use latchkey_service::outbox::{ListMails, ListedMail, MailKey, MailPosition, MailState};
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin_input::{AdminBody, NoKeys};
use crate::app::App;
use crate::caller::{Admin, AdminWith};
use crate::cursor;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::auth::users::mails::MailBody;
use crate::error::{ApiError, Result, codes};
use crate::json::Json;
use crate::openapi::{fields, parameters};
use crate::path::PathText;
use crate::query::page_within;

/// A mail in the outbox and its fate, without its content.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Mail)]
pub struct OutboxMailBody {
    #[serde(flatten)]
    mail: MailBody,
    #[schema(schema_with = fields::optional_user_id, required)]
    user_id: Option<UserId>,
    #[schema(schema_with = fields::next_attempt, required)]
    next_attempt_at: Option<Timestamp>,
}

/// A page of the mails in the outbox, newest first.
#[derive(Serialize, ToSchema)]
#[schema(as = MailPage)]
pub struct OutboxMailsBody {
    data: Vec<OutboxMailBody>,
    pagination: MailPaginationBody,
}

/// Position of the page in the list of mails.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MailPagination)]
pub struct MailPaginationBody {
    #[schema(schema_with = fields::page_limit)]
    limit: u32,
    #[schema(schema_with = fields::count)]
    total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::next_cursor)]
    next_cursor: Option<String>,
}

impl From<ListedMail> for OutboxMailBody {
    fn from(mail: ListedMail) -> Self {
        Self {
            user_id: mail.user_id,
            next_attempt_at: (mail.state == MailState::Queued).then_some(mail.next_attempt_at),
            mail: MailBody::from(mail),
        }
    }
}

pub const LIST: Endpoint = Endpoint::get("/api/auth/mails", |method| on(method, list))
    .named("listMails", "List mails")
    .about(
        "Mails that wait, that were sent in the last 30 days, and that are dead, newest first; never their content.",
    )
    .access(Access::Admin)
    .parameters(&[parameters::mail_state, parameters::mail_to, parameters::admin_limit, parameters::mail_cursor])
    .responds::<OutboxMailsBody>("A page of mails.");

pub async fn list(State(app): State<App>, admin: AdminWith) -> Result<Json<OutboxMailsBody>> {
    let query = admin.query.knowing(&["state", "to", "limit", "cursor"])?;
    let limit = page_within(query.optional("limit")?.as_deref(), None)?.limit();
    let state = query.optional("state")?.map(|state| read_state(&state)).transpose()?;
    let to = query.optional("to")?.map(|to| Email::parse(&to)).transpose();
    let to =
        to.map_err(|error| ApiError::validation("to", &error.to_string()).reason(Reason::InvalidFormat))?;
    let after = query.optional("cursor")?.map(|text| cursor::decode(&text)).transpose()?;
    let after = after.map(|(created_at, id)| MailPosition::After(MailKey { created_at, id }));
    let position = after.unwrap_or_default();
    let page = app.service.outbox.list(&ListMails { state, to, position, limit }).await?;
    let last = page.mails.last().filter(|_| page.has_more);
    let next_cursor = last.map(|mail| cursor::encode(mail.created_at, mail.id));
    Ok(Json(OutboxMailsBody {
        pagination: MailPaginationBody { limit, total: page.total, next_cursor },
        data: page.mails.into_iter().map(OutboxMailBody::from).collect(),
    }))
}

/// Parses the value of the parameter `state`. Decoys are known to no admin.
fn read_state(text: &str) -> Result<MailState> {
    MailState::parse(text).filter(|state| *state != MailState::Decoy).ok_or_else(|| {
        ApiError::validation("state", "must be `queued`, `sent` or `dead`").reason(Reason::NotAllowed)
    })
}

pub const RETRY: Endpoint = Endpoint::post("/api/auth/mails/{id}/retry", |method| on(method, retry))
    .named("retryMail", "Send a dead mail again")
    .about(
        "Queues a mail again whose last attempt has failed. Refused if its code or link has expired: then send the user a \
         new verification or reset.",
    )
    .access(Access::Admin)
    .parameters(&[parameters::id::<MailId>])
    .no_body()
    .responds::<OutboxMailBody>("The mail, which waits for its next attempt.")
    .errors(&[&codes::NOT_FOUND, &codes::MAIL_NOT_RETRIED]);

pub async fn retry(
    State(app): State<App>,
    Admin(client): Admin,
    PathText(id): PathText,
    _: AdminBody<NoKeys>,
) -> Result<Json<OutboxMailBody>> {
    let id = id.parse::<MailId>().map_err(|_| ApiError::from(&codes::MAIL_UNKNOWN))?;
    let mail = app.service.outbox.retry(id, Party::Admin, Some(&client.to_domain())).await?;
    Ok(Json(mail.into()))
}
