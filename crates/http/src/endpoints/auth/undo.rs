//! `/api/auth/undo`: the undo link in a mail. `GET` shows a page with a form. `POST`, as that form or as JSON, reverses
//! the change of the account.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use http::HeaderMap;
use latchkey_domain::email::Email;
use latchkey_domain::shape::Shaped;
use latchkey_domain::tokens::LinkToken;
use latchkey_service::refusal::INVALID_CODE;
use latchkey_service::undo::Undone;
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::app::App;
use crate::body::JsonOrForm;
use crate::client::ClientInfo;
use crate::endpoint::Endpoint;
use crate::endpoints::MessageBody;
use crate::endpoints::auth::ChallengeBody;
use crate::error::{ApiError, Refusal, Result, codes};
use crate::json::Json;
use crate::openapi::{fields, parameters};
use crate::pages::{Page, UndoForm, ask_again, ask_for_code, ask_to_undo, dead_undo, undone};
use crate::query::Query;

const PATH: &str = "/api/auth/undo";

/// Request body of the operation `undoChange`.
#[derive(Deserialize, ToSchema)]
#[schema(as = UndoRequest)]
pub struct UndoRequest {
    #[schema(schema_with = fields::sent::<LinkToken>)]
    token: String,
    /// The email address to which the undo link was mailed.
    #[schema(schema_with = fields::sent::<Email>)]
    email: Email,
    #[schema(schema_with = fields::undo_code)]
    code: Option<String>,
}

pub const OPEN: Endpoint = Endpoint::get(PATH, |method| on(method, open))
    .named("openUndoLink", "Open an undo link")
    .about(
        "Where the link in a mail about a change of the account leads. The page says what happened and when, and has a \
         form that takes it back. GET and HEAD change nothing.",
    )
    .parameters(&[parameters::link_token])
    .page("The page with the form.")
    .bad_request_page("A page: the link is unknown, expired or used.")
    .errors(&[&codes::INVALID_CODE, &codes::TOO_MANY_REQUESTS]);

pub async fn open(State(app): State<App>, client: ClientInfo, query: Query) -> Result<Response> {
    let Some((text, token)) = token_of(&query) else { return Ok(dead(&app)) };
    let Some(link) = app.service.undo.look(token, &client.to_domain()).await? else { return Ok(dead(&app)) };
    let form = UndoForm { token: &text, ..UndoForm::default() };
    Ok(ask_to_undo(&form, link, app.service.name()).into_response())
}

pub const UNDO: Endpoint = Endpoint::post(PATH, |method| on(method, undo))
    .named("undoChange", "Take back a change of the account")
    .about(
        "Takes back the change that the mail was about, once: the account has the address again that the mail went to, the password is dropped, all sessions end, factors and \
         identities that were added since the day before are removed, two-step sign-in is off if it was turned on since \
         then or no factor is left, and a reset code or link is mailed. Where two-step sign-in stays on, a second factor \
         is needed: 403 `SECOND_FACTOR_REQUIRED` with `challenge`; answer it, or repeat this call with \
         `code`.",
    )
    .body::<UndoRequest>(|| json!({ "token": LinkToken::SENT.example, "email": "ada@example.org" }))
    .or_form()
    .responds::<MessageBody>("It was undone; a form gets a page.")
    .bad_request_page("A page, for a form.")
    .errors(&[
        &codes::INVALID_CODE,
        &codes::INVALID_SECOND_FACTOR,
        &codes::INVALID_CHALLENGE,
        &codes::SECOND_FACTOR_REQUIRED,
        &codes::FORBIDDEN,
        &codes::TOO_MANY_REQUESTS,
    ]);

pub async fn undo(
    State(app): State<App>,
    client: ClientInfo,
    headers: HeaderMap,
    body: JsonOrForm<UndoRequest>,
) -> Result<Response> {
    match body {
        JsonOrForm::Json(request) => {
            let token = LinkToken::parse(&request.token).ok_or(&INVALID_CODE)?;
            let client = client.to_sign_in();
            match app.service.undo.undo(token, request.email, request.code, &client).await? {
                Undone::Done => {
                    let message = "It was undone. Set a new password with the mail that was sent.";
                    Ok(Json(MessageBody { message }).into_response())
                }
                Undone::Challenged(challenge) => {
                    Err(ApiError::second_factor_required(&ChallengeBody::from(challenge)))
                }
            }
        }
        JsonOrForm::Form(said) => {
            app.origins.check_own_form(&headers)?;
            undo_by_form(&app, &client, &said).await
        }
    }
}

/// Handles the form of the undo page. A person sees the response, so wrong input that the person can correct gets the
/// page with the form again instead of a JSON error.
async fn undo_by_form(app: &App, client: &ClientInfo, said: &Query) -> Result<Response> {
    let Some((text, token)) = token_of(said) else { return Ok(dead(app)) };
    let typed = said.optional("email").ok().flatten().unwrap_or_default();
    let code = said.optional("code").unwrap_or_else(|_| Some(String::new()));
    let has_code = code.is_some();
    let mut form = UndoForm { token: &text, email: &typed, problem: None };
    let Ok(email) = Email::parse(&typed) else {
        form.problem = Some("This is not an email address.");
        return Ok(refused(ask_again(&form), codes::VALIDATION_ERROR.name));
    };

    let error = match app.service.undo.undo(token, email, code, &client.to_sign_in()).await {
        Ok(Undone::Done) => return Ok(undone(app.service.name()).into_response()),
        Ok(Undone::Challenged(_)) => return Ok(ask_for_code(&form).into_response()),
        Err(error) => ApiError::from(error),
    };
    let (problem, asks_for_code) = match error.code {
        code if code == codes::INVALID_CODE.name => (
            "The mail with this link did not go to this address, or the link has expired or was used.".into(),
            false,
        ),
        code if code == codes::INVALID_CHALLENGE.name => {
            ("The codes entered so far were wrong. Begin again.".into(), false)
        }
        code if code == codes::INVALID_SECOND_FACTOR.name || code == codes::SECOND_FACTOR_REQUIRED.name => {
            let can_help = code == codes::INVALID_SECOND_FACTOR.name;
            (format!("{} {}", error.message, error.next_action), can_help)
        }
        code if code == codes::VALIDATION_ERROR.name && has_code => (
            "This is no code: the app shows six digits, a recovery code has sixteen letters and digits."
                .into(),
            true,
        ),
        _ => return Err(error),
    };
    form.problem = Some(&problem);
    let page = if asks_for_code { ask_for_code(&form) } else { ask_again(&form) };
    Ok(refused(page, error.code))
}

/// Returns the token of the undo link twice, as sent and parsed; `None` if it is absent, given twice or malformed.
fn token_of(said: &Query) -> Option<(String, LinkToken)> {
    let text = said.optional("token").ok().flatten()?;
    let token = LinkToken::parse(&text)?;
    Some((text, token))
}

/// Builds the page for an invalid undo link. The access log gets the code `INVALID_CODE`.
fn dead(app: &App) -> Response {
    refused(dead_undo(app.service.name()), codes::INVALID_CODE.name)
}

/// Adds the error code to a page, for the access log.
fn refused(page: Page, error: &'static str) -> Response {
    let mut response = page.into_response();
    response.extensions_mut().insert(Refusal { error, limit: None });
    response
}
