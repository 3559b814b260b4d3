//! Management of users by an admin.

use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use latchkey_domain::email::Email;
use latchkey_domain::ids::UserId;
use latchkey_domain::locale::Locale;
use latchkey_domain::operator::Party;
use latchkey_domain::password::{Password, PasswordPolicy};
use latchkey_domain::profile::Name;
use latchkey_domain::shape::Shaped;
use latchkey_domain::time::Timestamp;
use latchkey_domain::user::{AppMetadata, User};
use latchkey_service::admin::{NewUser, UserChange};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::admin_input::{AdminBody, AdminRequest, NoKeys};
use crate::app::App;
use crate::body::Patch;
use crate::caller::Admin;
use crate::endpoint::{Access, Endpoint};
use crate::endpoints::MessageBody;
use crate::endpoints::auth::UserBody;
use crate::error::{Result, codes};
use crate::json::Json;
use crate::openapi::fields;
use crate::openapi::parameters;
use crate::path::{PathText, user_id};

/// A user, as shown to an admin.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AdminUser)]
pub struct AdminUserBody {
    #[serde(flatten)]
    user: UserBody,
    /// True if the user is banned.
    banned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::moment_of_last_sign_in)]
    last_sign_in_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = fields::moment_of_deletion)]
    deletes_at: Option<Timestamp>,
}

/// Request of an admin to create a user.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateUserRequest {
    #[schema(schema_with = fields::sent::<Email>)]
    email: Email,
    #[schema(schema_with = fields::sent::<PasswordPolicy>)]
    password: Password,
    #[schema(schema_with = fields::optional_name)]
    name: Option<Name>,
    /// True if the address counts as verified; `false` by default.
    auto_confirm: Option<bool>,
    /// True if the user gets a profile; `true` by default.
    create_profile: Option<bool>,
    #[schema(schema_with = fields::optional_app_metadata)]
    metadata: Option<AppMetadata>,
    #[schema(schema_with = fields::own_locale)]
    locale: Option<Locale>,
}

impl AdminRequest for CreateUserRequest {
    /// Keys of a sign-up request that have no effect here, because no mail with a link is sent.
    const IGNORED: &'static [&'static str] = &["redirectTo", "options"];
}

/// The user that an admin created.
#[derive(Serialize, ToSchema)]
#[schema(as = CreatedUser)]
pub struct CreatedUserBody {
    user: AdminUserBody,
}

/// Request to change a user.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UpdateUserRequest)]
pub(super) struct ChangeUserRequest {
    #[serde(default)]
    #[schema(schema_with = fields::sent::<Email>)]
    email: Patch<Email>,
    #[serde(default)]
    #[schema(schema_with = fields::new_flag)]
    email_verified: Patch<bool>,
    #[serde(default)]
    #[schema(schema_with = fields::new_flag)]
    banned: Patch<bool>,
    #[serde(default)]
    #[schema(schema_with = fields::sent::<AppMetadata>)]
    metadata: Patch<AppMetadata>,
    #[serde(default)]
    #[schema(schema_with = fields::restore)]
    restore: Patch<bool>,
}

impl AdminRequest for ChangeUserRequest {
    const IGNORED: &'static [&'static str] =
        &["id", "providers", "createdAt", "updatedAt", "profile", "deletesAt"];
}

/// Request to delete users. A malformed id counts as an unknown id.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeleteUsersRequest {
    #[schema(schema_with = fields::user_ids)]
    user_ids: Vec<String>,
}

impl AdminRequest for DeleteUsersRequest {}

/// The response after users were deleted, with their number.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeletedUsers)]
pub(super) struct DeletedBody {
    #[schema(schema_with = fields::message)]
    message: &'static str,
    #[schema(schema_with = fields::count)]
    deleted_count: u64,
}

/// The response after a user's sessions were ended, with their number.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = EndedUserSessions)]
pub(super) struct EndedBody {
    #[schema(schema_with = fields::message)]
    message: &'static str,
    #[schema(schema_with = fields::count)]
    ended_count: u64,
}

impl AdminUserBody {
    pub(super) fn new(app: &App, user: &User) -> Self {
        Self {
            banned: user.is_banned(),
            last_sign_in_at: user.last_sign_in_at,
            deletes_at: user.deletes_at,
            user: UserBody::new(&app.service, user),
        }
    }
}

pub const ONE: Endpoint = Endpoint::get("/api/auth/users/{id}", |method| on(method, one))
    .named("getUser", "Read a user")
    .access(Access::Admin)
    .parameters(&[parameters::id::<UserId>])
    .responds::<AdminUserBody>("The user.")
    .errors(&[&codes::USER_NOT_FOUND]);

pub(super) async fn one(
    State(app): State<App>,
    _: Admin,
    PathText(id): PathText,
) -> Result<Json<AdminUserBody>> {
    let user = app.service.admin.find_user(user_id(&id)?).await?;
    Ok(Json(AdminUserBody::new(&app, &user)))
}

/// Handles `POST /api/auth/users` with an admin key: creates a user.
pub(super) async fn create(app: &App, admin: Admin, request: Request) -> Result<Response> {
    let AdminBody(body) = AdminBody::<CreateUserRequest>::from_request(request, app).await?;
    let new = NewUser {
        email: body.email,
        password: Some(body.password),
        name: body.name,
        auto_confirm: body.auto_confirm.unwrap_or(false),
        create_profile: body.create_profile.unwrap_or(true),
        metadata: body.metadata.unwrap_or_default(),
        locale: body.locale,
    };
    let user = app.service.admin.create_user(new, Party::Admin, Some(&admin.0.to_domain())).await?;
    Ok(Json(CreatedUserBody { user: AdminUserBody::new(app, &user) }).into_response())
}

pub const CHANGE: Endpoint = Endpoint::patch("/api/auth/users/{id}", |method| on(method, change))
    .named("updateUser", "Change a user")
    .about("Only the keys present change. A ban ends the user's sessions at once; a new address kills codes and links.")
    .access(Access::Admin)
    .parameters(&[parameters::id::<UserId>])
    .optional_body::<ChangeUserRequest>(|| json!({ "banned": true }))
    .responds::<AdminUserBody>("The user after the change.")
    .errors(&[&codes::USER_NOT_FOUND, &codes::EMAIL_EXISTS, &codes::OPERATOR_PROTECTED, &codes::LAST_OWNER]);

pub(super) async fn change(
    State(app): State<App>,
    Admin(client): Admin,
    PathText(id): PathText,
    AdminBody(body): AdminBody<ChangeUserRequest>,
) -> Result<Json<AdminUserBody>> {
    let change = UserChange {
        email: body.email.not_null("email", "must not be null")?,
        email_verified: body.email_verified.not_null("emailVerified", "must not be null")?,
        banned: body.banned.not_null("banned", "must not be null")?,
        metadata: body.metadata.not_null("metadata", "must not be null")?,
        restore: body.restore.not_null("restore", "must not be null")?.unwrap_or(false),
    };
    let client = client.to_domain();
    let user = app.service.admin.change_user(user_id(&id)?, change, Party::Admin, Some(&client)).await?;
    Ok(Json(AdminUserBody::new(&app, &user)))
}

pub const DELETE: Endpoint = Endpoint::delete("/api/auth/users", |method| on(method, delete))
    .named("deleteUsers", "Delete users")
    .about("Ids that are unknown or malformed are skipped; all others are deleted in one transaction, with their sessions.")
    .access(Access::Admin)
    .body::<DeleteUsersRequest>(|| json!({ "userIds": [UserId::SENT.example] }))
    .responds::<DeletedBody>("How many users went.")
    .errors(&[&codes::OPERATOR_PROTECTED, &codes::LAST_OWNER]);

pub(super) async fn delete(
    State(app): State<App>,
    Admin(client): Admin,
    AdminBody(body): AdminBody<DeleteUsersRequest>,
) -> Result<Json<DeletedBody>> {
    let client = client.to_domain();
    let ids: Vec<_> = body.user_ids.iter().filter_map(|id| id.parse().ok()).collect();
    let deleted_count = app.service.admin.delete_users(&ids, Party::Admin, Some(&client)).await?;
    Ok(Json(DeletedBody { message: "The users were deleted.", deleted_count }))
}

pub const END_SESSIONS: Endpoint =
    Endpoint::delete("/api/auth/users/{id}/sessions", |method| on(method, end_sessions))
        .named("endUserSessions", "End a user's sessions")
        .access(Access::Admin)
        .parameters(&[parameters::id::<UserId>])
        .no_body()
        .responds::<EndedBody>("How many sessions were ended.")
        .errors(&[&codes::USER_NOT_FOUND]);

pub(super) async fn end_sessions(
    State(app): State<App>,
    Admin(client): Admin,
    PathText(id): PathText,
    _: AdminBody<NoKeys>,
) -> Result<Json<EndedBody>> {
    let ended_count =
        app.service.admin.end_all_sessions(user_id(&id)?, Party::Admin, Some(&client.to_domain())).await?;
    Ok(Json(EndedBody { message: "The sessions were ended.", ended_count }))
}

pub const DELETE_PROFILE: Endpoint =
    Endpoint::delete("/api/auth/users/{id}/profile", |method| on(method, delete_profile))
        .named("deleteUserProfile", "Delete a user's profile")
        .access(Access::Admin)
        .parameters(&[parameters::id::<UserId>])
        .no_body()
        .responds::<MessageBody>("The profile is deleted; the user stays.")
        .errors(&[&codes::USER_NOT_FOUND, &codes::PROFILE_NOT_FOUND, &codes::OPERATOR_PROTECTED]);

pub(super) async fn delete_profile(
    State(app): State<App>,
    Admin(client): Admin,
    PathText(id): PathText,
    _: AdminBody<NoKeys>,
) -> Result<Json<MessageBody>> {
    app.service.admin.delete_profile(user_id(&id)?, Party::Admin, Some(&client.to_domain())).await?;
    Ok(Json(MessageBody { message: "The profile was deleted." }))
}
