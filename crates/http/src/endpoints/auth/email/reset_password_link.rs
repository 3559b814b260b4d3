//! `GET /api/auth/email/reset-password-link`: target of the reset link in a mail. It can be opened any number of times.

use axum::extract::State;
use axum::response::Response;
use axum::routing::on;

use super::links::{link, link_answer};
use crate::app::App;
use crate::client::ClientInfo;
use crate::endpoint::Endpoint;
use crate::error::Result;
use crate::openapi::parameters;
use crate::pages::LinkKind;
use crate::query::Query;

pub const OPEN: Endpoint = link(Endpoint::get("/api/auth/email/reset-password-link", |method| on(method, open)))
    .named("openResetPasswordLink", "Open a reset link")
    .about(
        "Where a mailed reset link leads: a browser opens it and is sent on, with `service_status` (`ready` or \
         `error`), `service_type=reset_password` and `token`, or on error `service_error`, added to the target. Can be \
         opened any number of times.",
    )
    .parameters(&[parameters::link_token]);

pub async fn open(State(app): State<App>, client: ClientInfo, query: Query) -> Result<Response> {
    let token = query.optional("token")?;
    let answer = app.service.mailbox.open_reset_link(token.as_deref(), &client.to_domain()).await?;
    link_answer(&app, LinkKind::ResetPassword, answer, token.as_deref())
}
