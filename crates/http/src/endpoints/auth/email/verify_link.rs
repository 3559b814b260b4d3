//! `GET /api/auth/email/verify-link`: a mailed verification link, opened in a browser. HEAD changes nothing.

use axum::extract::State;
use axum::response::Response;
use http::Method;
use latchkey_service::links::Visit;

use super::links::link_answer;
use crate::app::App;
use crate::client::ClientInfo;
use crate::error::Result;
use crate::pages::LinkKind;
use crate::query::Query;

/// `GET /api/auth/email/verify-link?token=`
pub async fn open(
    State(app): State<App>,
    client: ClientInfo,
    method: Method,
    query: Query,
) -> Result<Response> {
    let token = query.optional("token")?;
    let visit = if method == Method::HEAD { Visit::Look } else { Visit::Open };
    let answer = app.service.open_verify_link(token.as_deref(), visit, &client.to_domain()).await?;
    link_answer(&app, LinkKind::VerifyEmail, answer)
}
