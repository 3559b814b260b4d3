//! `GET /api/auth/users`: the list of users.

use axum::extract::State;
use axum::routing::on;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use latchkey_domain::page::Page;
use latchkey_domain::reason::Reason;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user_list::{UserFilter, UserKey, UserSearch, UserSort, UserState};
use latchkey_service::admin::{ListUsers, UserPage, UserPosition};
use serde::Serialize;
use utoipa::ToSchema;

use super::manage::AdminUserBody;
use crate::app::App;
use crate::caller::AdminWith;
use crate::endpoint::{Access, Endpoint};
use crate::error::{ApiError, Result};
use crate::json::Json;
use crate::openapi::{fields, parameters};
use crate::query::{Query, page_within};

/// A page of users.
#[derive(Serialize, ToSchema)]
#[schema(as = UserPage)]
pub(super) struct UsersBody {
    data: Vec<AdminUserBody>,
    pagination: PaginationBody,
}

/// Position of the page in the list of users.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Pagination)]
pub(super) struct PaginationBody {
    #[schema(schema_with = fields::offset)]
    offset: u64,
    #[schema(schema_with = fields::page_limit)]
    limit: u32,
    #[schema(schema_with = fields::count)]
    total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::next_cursor)]
    next_cursor: Option<String>,
}

pub const LIST: Endpoint = Endpoint::get("/api/auth/users", |method| on(method, list))
    .named("listUsers", "List users")
    .about(
        "Newest first, unless `sort` says otherwise. Filters are combined. Pages by `offset`, or by `cursor`; both together \
         are refused, and a cursor belongs to its `sort`.",
    )
    .access(Access::Admin)
    .parameters(&[
        parameters::admin_limit,
        parameters::offset,
        parameters::cursor,
        parameters::user_search,
        parameters::user_state,
        parameters::user_provider,
        parameters::created_after,
        parameters::created_before,
        parameters::signed_in_after,
        parameters::signed_in_before,
        parameters::user_sort,
    ])
    .responds::<UsersBody>("A page of users.");

const NAMES: &[&str] = &[
    "limit",
    "offset",
    "cursor",
    "search",
    "state",
    "provider",
    "createdAfter",
    "createdBefore",
    "signedInAfter",
    "signedInBefore",
    "sort",
];

pub(super) async fn list(State(app): State<App>, admin: AdminWith) -> Result<Json<UsersBody>> {
    let query = admin.query.knowing(NAMES)?;
    let (limit, offset) = (query.optional("limit")?, query.optional("offset")?);
    let page = page_within(limit.as_deref(), offset.as_deref())?;
    let sort = one_of(&query, "sort", UserSort::parse)?.unwrap_or(UserSort::Created);
    let position = match query.optional("cursor")? {
        Some(_) if offset.is_some() => {
            return Err(ApiError::validation("cursor", "cannot be used together with `offset`")
                .reason(Reason::Conflicting));
        }
        Some(cursor) => position(sort, &cursor)?,
        None => UserPosition::Offset(page.offset()),
    };
    let list = ListUsers { filter: filter(&query)?, order: sort.order(), position, limit: page.limit() };
    let users = app.service.admin.list_users(&list).await?;
    Ok(Json(users_body(&app, &users, sort, page)))
}

fn filter(query: &Query) -> Result<UserFilter> {
    let time = |name| parsed(query, name, "must be a time in RFC 3339, or a day", Timestamp::parse);
    Ok(UserFilter {
        search: query.optional("search")?.as_deref().and_then(UserSearch::parse),
        state: one_of(query, "state", UserState::parse)?,
        provider: query.optional("provider")?.filter(|key| !key.is_empty()),
        created_after: time("createdAfter")?,
        created_before: time("createdBefore")?,
        signed_in_after: time("signedInAfter")?,
        signed_in_before: time("signedInBefore")?,
    })
}

fn one_of<T>(query: &Query, name: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
    parsed(query, name, "must be one of the values in the documentation", parse)
}

fn parsed<T>(
    query: &Query,
    name: &str,
    problem: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>> {
    let Some(text) = query.optional(name)? else { return Ok(None) };
    let value = parse(&text).ok_or_else(|| ApiError::validation(name, problem).reason(Reason::NotAllowed))?;
    Ok(Some(value))
}

fn users_body(app: &App, page: &UserPage, sort: UserSort, asked: Page) -> UsersBody {
    let last = page.users.last().filter(|_| page.has_more);
    UsersBody {
        pagination: PaginationBody {
            offset: asked.offset(),
            limit: asked.limit(),
            total: page.total,
            next_cursor: last.map(|user| URL_SAFE_NO_PAD.encode(sort.key_of(user).to_text())),
        },
        data: page.users.iter().map(|user| AdminUserBody::new(app, user)).collect(),
    }
}

fn position(sort: UserSort, cursor: &str) -> Result<UserPosition> {
    let text = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let key = text.and_then(|text| UserKey::parse(sort, &text));
    let problem = "must be a `nextCursor` of an earlier page with the same `sort`";
    let key = key.ok_or_else(|| ApiError::validation("cursor", problem).reason(Reason::InvalidFormat));
    key.map(UserPosition::After)
}
