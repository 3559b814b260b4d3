//! The admin interface: users, settings, audit. Making a user is in [`super::accounts`], with sign-up.

use http::StatusCode;
use serde_json::json;
use utoipa::openapi::path::HttpMethod;

use crate::endpoints::auth::audit::AuditBody;
use crate::endpoints::auth::config::{ChangeConfigRequest, ConfigBody};
use crate::endpoints::auth::users::{
    AdminUserBody, ChangeUserRequest, DeleteUsersRequest, DeletedBody, EndedBody, MessageBody, UsersBody,
};
use crate::error::codes::{
    EMAIL_EXISTS, EMAIL_PROVIDER_NOT_CONFIGURED, PROFILE_NOT_FOUND, SETTING_PINNED, USER_NOT_FOUND,
};
use crate::openapi::access::Access;
use crate::openapi::operation::Operation;
use crate::openapi::parameters::{admin_limit, before, cursor, offset, user_id, user_search};
use crate::openapi::tags::Tag;

fn operation(method: HttpMethod, path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation::new(method, path, Tag::Admin, id, summary).access(Access::Admin)
}

pub(super) fn users() -> Vec<Operation> {
    vec![
        operation(HttpMethod::Get, "/api/auth/users", "listUsers", "List users")
            .about("Newest first. Pages by `offset`, or by `cursor`; both together are refused.")
            .parameter(admin_limit())
            .parameter(offset())
            .parameter(cursor())
            .parameter(user_search())
            .answers::<UsersBody>(StatusCode::OK, "A page of users."),
        operation(HttpMethod::Delete, "/api/auth/users", "deleteUsers", "Delete users")
            .about("Unknown ids are skipped, and so is a text that is no id; the sessions die with the user.")
            .body::<DeleteUsersRequest>(json!({ "userIds": ["0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"] }))
            .answers::<DeletedBody>(StatusCode::OK, "How many users went."),
        operation(HttpMethod::Get, "/api/auth/users/{id}", "getUser", "Read a user")
            .parameter(user_id())
            .answers::<AdminUserBody>(StatusCode::OK, "The user.")
            .errors(&[&USER_NOT_FOUND]),
        operation(HttpMethod::Patch, "/api/auth/users/{id}", "updateUser", "Change a user")
            .about("Only the keys present change. A ban ends the user's sessions at once; a new address kills codes and links.")
            .parameter(user_id())
            .optional_body::<ChangeUserRequest>(json!({ "banned": true }))
            .answers::<AdminUserBody>(StatusCode::OK, "The user after the change.")
            .errors(&[&USER_NOT_FOUND, &EMAIL_EXISTS]),
        operation(HttpMethod::Delete, "/api/auth/users/{id}/sessions", "endUserSessions", "End a user's sessions")
            .parameter(user_id())
            .no_body()
            .answers::<EndedBody>(StatusCode::OK, "How many sessions were ended.")
            .errors(&[&USER_NOT_FOUND]),
        operation(HttpMethod::Delete, "/api/auth/users/{id}/profile", "deleteUserProfile", "Delete a user's profile")
            .parameter(user_id())
            .no_body()
            .answers::<MessageBody>(StatusCode::OK, "The profile is gone; the user stays.")
            .errors(&[&USER_NOT_FOUND, &PROFILE_NOT_FOUND]),
    ]
}

pub(super) fn settings_and_audit() -> Vec<Operation> {
    vec![
        operation(HttpMethod::Get, "/api/auth/config", "getConfig", "Read the editable settings")
            .answers::<ConfigBody>(StatusCode::OK, "The settings in force."),
        operation(HttpMethod::Put, "/api/auth/config", "updateConfig", "Change the editable settings")
            .about("Partial: what is left out, or `null`, stays; `null` removes the default redirect URL. In force here at once, on other instances within a second.")
            .optional_body::<ChangeConfigRequest>(json!({ "allowedRedirectUrls": ["https://app.example.org/welcome"] }))
            .answers::<ConfigBody>(StatusCode::OK, "The settings in force after the change.")
            .errors(&[&SETTING_PINNED, &EMAIL_PROVIDER_NOT_CONFIGURED]),
        operation(HttpMethod::Get, "/api/auth/audit", "listAuditEvents", "Read the audit trail")
            .about("Who did what, when, from where; newest first.")
            .parameter(admin_limit())
            .parameter(before())
            .answers::<AuditBody>(StatusCode::OK, "A page of events."),
    ]
}
