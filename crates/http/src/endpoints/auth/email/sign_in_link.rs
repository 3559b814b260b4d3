//! `GET /api/auth/email/sign-in-link`: target of the sign-in link in a mail. It can be opened any number of times.

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

pub const OPEN: Endpoint = link(Endpoint::get("/api/auth/email/sign-in-link", |method| on(method, open)))
    .named("openSignInLink", "Open a sign-in link")
    .about(
        "Where a mailed sign-in link leads: a browser opens it and is sent on, with `service_status` (`ready` or \
         `error`), `service_type=sign_in` and `token`, or on error `service_error`, added to the target. Uses nothing up: \
         the token signs in only with the verifier of the browser that asked for the mail.",
    )
    .parameters(&[parameters::link_token]);

pub async fn open(State(app): State<App>, client: ClientInfo, query: Query) -> Result<Response> {
    let token = query.optional("token")?;
    let answer = app.service.mailbox.open_sign_in_link(token.as_deref(), &client.to_domain()).await?;
    link_answer(&app, LinkKind::SignIn, answer, token.as_deref())
}
