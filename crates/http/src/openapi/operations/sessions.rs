//! The current session and user, and one's own sessions.

use http::StatusCode;
use utoipa::openapi::path::HttpMethod;

use crate::endpoints::auth::sessions::{CurrentSessionBody, EndedSessionsBody, SessionsBody};
use crate::error::codes::{NOT_FOUND, VALIDATION_ERROR};
use crate::openapi::access::Access;
use crate::openapi::operation::Operation;
use crate::openapi::parameters::{others, session_id};
use crate::openapi::tags::Tag;

pub(super) fn operations() -> Vec<Operation> {
    let operation = |method, path, id, summary| {
        Operation::new(method, path, Tag::Accounts, id, summary).access(Access::User)
    };
    vec![
        operation(HttpMethod::Get, "/api/auth/sessions/current", "getCurrentUser", "Read the current user")
            .about("The user of the session, and when the access token expires.")
            .answers::<CurrentSessionBody>(StatusCode::OK, "The user."),
        operation(HttpMethod::Get, "/api/auth/sessions", "listSessions", "List one's own sessions")
            .answers::<SessionsBody>(StatusCode::OK, "The living sessions of the user, 100 at the most."),
        operation(HttpMethod::Delete, "/api/auth/sessions", "endOtherSessions", "End one's other sessions")
            .parameter(others())
            .answers::<EndedSessionsBody>(StatusCode::OK, "All sessions but the calling one are over.")
            .errors(&[&VALIDATION_ERROR]),
        operation(
            HttpMethod::Delete,
            "/api/auth/sessions/{id}",
            "endSession",
            "End one of one's own sessions",
        )
        .parameter(session_id())
        .answers::<EndedSessionsBody>(StatusCode::OK, "The session is over.")
        .errors(&[&NOT_FOUND]),
    ]
}
