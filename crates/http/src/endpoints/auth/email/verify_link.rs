//! `GET /api/auth/email/verify-link`: target of the verification link in a mail. HEAD changes nothing. `POST`: the form
//! of the page that asks for confirmation before data of the account is removed.

use axum::extract::State;
use axum::response::Response;
use axum::routing::on;
use http::{HeaderMap, Method};
use latchkey_domain::tokens::{LinkToken, RefreshToken};
use latchkey_service::mailbox::links::{LinkBrowser, Visit};

use super::links::{dead, link, link_answer};
use crate::app::App;
use crate::body::FormAndQuery;
use crate::client::ClientInfo;
use crate::endpoint::Endpoint;
use crate::error::Result;
use crate::openapi::parameters;
use crate::pages::LinkKind;
use crate::query::Query;

const PATH: &str = "/api/auth/email/verify-link";

pub const OPEN: Endpoint = link(Endpoint::get(PATH, |method| on(method, open)))
    .named("openVerificationLink", "Open a verification link")
    .about(
        "Where a mailed verification link leads: a browser opens it and is sent on, with `service_status` \
         (`success` or `error`), `service_type=verify_email` and, on error, `service_error` added to the target. Opens \
         no session. HEAD changes nothing. Where verifying would remove something of an account that was in use before, and \
         the browser has no cookie of the account, a page asks first.",
    )
    .parameters(&[parameters::link_token])
    .page("A page that asks before something is removed. Nothing changed.");

pub async fn open(
    State(app): State<App>,
    client: ClientInfo,
    method: Method,
    headers: HeaderMap,
    query: Query,
) -> Result<Response> {
    let token = query.optional("token")?;
    let visit = if method == Method::HEAD { Visit::Look } else { Visit::Open };
    visit_link(&app, token, visit, &headers, &client).await
}

pub const AGREE: Endpoint = link(Endpoint::post(PATH, |method| on(method, agree)))
    .named("agreeToVerify", "Verify after a question")
    .about("The button of the page that asks. Verifies, removes what the page says, and redirects as the link does.")
    .form("The field `token`.");

/// Handles the confirmation form. A person sees the response, so a malformed form gets an HTML page instead of JSON.
pub async fn agree(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
    form: Result<FormAndQuery>,
) -> Result<Response> {
    let Ok(token) = form.and_then(|FormAndQuery(said)| said.optional("token")) else {
        return Ok(dead(&app, LinkKind::VerifyEmail));
    };
    visit_link(&app, token, Visit::Agree, &headers, &client).await
}

async fn visit_link(
    app: &App,
    token: Option<String>,
    visit: Visit,
    headers: &HeaderMap,
    client: &ClientInfo,
) -> Result<Response> {
    let browser = LinkBrowser {
        refresh: app.refresh_cookie.read(headers).and_then(|cookie| RefreshToken::parse(cookie.expose())),
        sign_up: app.sign_up_cookie.read(headers).and_then(|cookie| LinkToken::parse(cookie.expose())),
    };
    let answer =
        app.service.mailbox.open_verify_link(token.as_deref(), visit, browser, &client.to_domain()).await?;
    link_answer(app, LinkKind::VerifyEmail, answer, token.as_deref())
}
