//! `/api/auth/users`: sign-up for everybody, and the users for an admin.

mod manage;
mod sign_up;

pub use manage::{
    AdminUserBody, ChangeUserRequest, CreateUserRequest, CreatedUserBody, DeleteUsersRequest, DeletedBody,
    EndedBody, MessageBody, PaginationBody, UsersBody, change, create, delete, delete_profile, end_sessions,
    list, one,
};
pub use sign_up::{OlderOptions, SignUpRequest, VerificationRequiredBody, sign_up};

use axum::extract::{FromRequestParts, Request, State};
use axum::response::Response;

use crate::app::App;
use crate::bearer::{ApiKeyHeader, BearerToken, Credentials};
use crate::caller::Admin;
use crate::error::Result;

/// `POST /api/auth/users`: exactly the admin key selects the admin's operation; a wrong `X-API-Key` is refused; with
/// anything else it is a sign-up.
pub async fn post(State(app): State<App>, request: Request) -> Result<Response> {
    let credentials = Credentials::of(request.headers());
    let bearer = credentials.bearer.as_ref().map(BearerToken::expose);
    let is_admin = bearer.is_some_and(|key| app.service.is_admin_key(key));
    if is_admin || !matches!(credentials.api_key, ApiKeyHeader::Missing) {
        let (mut parts, body) = request.into_parts();
        let admin = Admin::from_request_parts(&mut parts, &app).await?;
        return create(&app, admin, Request::from_parts(parts, body)).await;
    }
    app.service.check_anon_key(bearer).await?;
    sign_up(&app, request).await
}
