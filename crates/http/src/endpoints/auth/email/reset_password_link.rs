//! `GET /api/auth/email/reset-password-link`: a mailed reset link, opened in a browser, any number of times.

use axum::extract::State;
use axum::response::Response;

use super::links::link_answer;
use crate::app::App;
use crate::client::ClientInfo;
use crate::error::Result;
use crate::pages::LinkKind;
use crate::query::Query;

/// `GET /api/auth/email/reset-password-link?token=`
pub async fn open(State(app): State<App>, client: ClientInfo, query: Query) -> Result<Response> {
    let token = query.optional("token")?;
    let answer = app.service.open_reset_link(token.as_deref(), &client.to_domain()).await?;
    link_answer(&app, LinkKind::ResetPassword, answer, token.as_deref())
}
