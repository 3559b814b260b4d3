//! The step-up: a form whose act needs a recent proof of a factor is kept, and submitted again after the proof.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{CONTENT_LENGTH, SET_COOKIE};
use http::{HeaderMap, Method, StatusCode};
use latchkey_domain::challenge::{ChallengeId, ChallengeKind};
use latchkey_http::client::PeerAddr;
use latchkey_pages::Form;
use latchkey_pages::console::views::{Confirm, Purpose};
use serde::{Deserialize, Serialize};
use tower::ServiceExt;
use url::form_urlencoded;

use super::confirm::{self, KIND, Question};
use super::guest::{Guest, Proved};
use super::sign_in::to_sign_in;
use super::stop::{Outcome, Stop};
use super::visit::ConsoleVisit;
use crate::auth::challenge;
use crate::ceremony;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::form_token;
use crate::problem;
use crate::sealed::Carried;

/// Field with the sealed [`Kept`].
pub(super) const KEPT: &str = "kept";
/// Field of the buttons that ask for another kind of answer.
pub(super) const OTHER: &str = "other";

/// A form that waits for the answer to a challenge.
#[derive(Serialize, Deserialize)]
struct Kept {
    challenge: String,
    user_id: String,
    /// Path and query to which the form was sent.
    here: String,
    fields: Vec<(String, String)>,
}

impl Carried for Kept {
    const KIND: &'static str = "console-kept";
}

/// A form that is to be submitted again, as a response extension.
#[derive(Clone)]
struct Resubmission {
    here: String,
    body: String,
    session: Proved,
}

/// Begins the challenge and shows its page in place of the form's response.
pub(super) async fn ask(visit: &ConsoleVisit, fields: &Fields) -> Stop {
    match begin(visit, fields).await {
        Ok(page) => Stop::Instead(Box::new(page)),
        Err(stop) => stop,
    }
}

async fn begin(visit: &ConsoleVisit, fields: &Fields) -> Outcome {
    let client = visit.to_client();
    let begun = visit.service().console.begin_step_up(visit.session(), &client).await?;
    ceremony::prepare(visit.service(), &begun.id, &begun.kinds).await?;
    let in_query = visit.query.all()?;
    let is_sent = |name: &str| name != form_token::FIELD && !in_query.iter().any(|(known, _)| known == name);
    let kept = Kept {
        challenge: begun.id.expose(),
        user_id: visit.user_id().to_string(),
        here: visit.here().to_owned(),
        fields: fields.all()?.into_iter().filter(|(name, _)| is_sent(name)).collect(),
    };
    let cancel = visit.path().to_owned();
    let text = visit.seal(begun.expires_at, kept)?;
    let view = view(visit, &begun.id, None, text, cancel).await?;
    visit.render(StatusCode::FORBIDDEN, &visit.frame(), &view)
}

/// Answers the challenge of a kept form.
pub(super) async fn answer(mut guest: Guest, mut fields: Fields, text: String) -> Outcome {
    let Some(session) = guest.session.clone() else { return Err(to_sign_in(&guest, "/console")) };
    let kept = guest.open::<Kept>(&text).filter(|kept| kept.user_id == session.user().id.to_string());
    let kept = kept.ok_or_else(PageError::stale_form)?;
    let id = ChallengeId::parse(&kept.challenge).ok_or_else(PageError::stale_form)?;
    let kind = confirm::kind(&guest)?;
    let cancel = kept.here.split('?').next().unwrap_or_default().to_owned();
    if !fields.text(OTHER)?.is_empty() {
        let view = view(&guest, &id, kind, text, cancel).await?;
        return guest.page(&view);
    }
    let client = guest.to_client();
    let proved = match challenge::read(&mut fields, &id, kind.ok_or_else(PageError::bad_flow)?) {
        Ok(answer) => {
            let proved = guest.service().console.step_up(answer, &session, &client).await;
            proved.map_err(problem::Rejection::from)
        }
        Err(rejection) => Err(rejection),
    };
    match proved {
        Ok(renewed) => {
            let session = guest.renew(&renewed).await?;
            again(&guest, kept, Proved(Arc::new(session)))
        }
        Err(rejection) => {
            let rejection = confirm::refused(&guest, rejection, &id, kind).await?;
            let view = view(&guest, &id, kind, text, cancel).await?;
            guest.refuse(rejection, &view)
        }
    }
}

async fn view(
    guest: &Guest,
    id: &ChallengeId,
    kind: Option<ChallengeKind>,
    text: String,
    cancel: String,
) -> Result<Confirm, Stop> {
    let form = |kind: ChallengeKind| -> Form { guest.form_with(confirm::PATH, &[(KIND, kind.as_str())]) };
    let question = Question { id, kind, purpose: Purpose::StepUp, start: cancel.clone(), cancel };
    Ok(Confirm { kept: Some(text), ..question.view(guest, &form).await? })
}

/// Returns the response by which [`resubmit`] sends the form again.
fn again(guest: &Guest, kept: Kept, session: Proved) -> Outcome {
    let path = kept.here.split('?').next().unwrap_or_default();
    let token = guest.form_token(path, Some(&*session.0));
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(&kept.fields)
        .append_pair(form_token::FIELD, &token)
        .finish();
    let mut response = guest.go_to(path)?;
    response.extensions_mut().insert(Resubmission { here: kept.here, body, session });
    Ok(response)
}

/// Layer that submits a kept form again, with the session that was proved, in place of the response to the proof. The
/// headers are those of the proof: the same browser sent both forms.
pub(super) async fn resubmit(State(routes): State<Router>, request: Request, next: Next) -> Response {
    let headers = request.headers().clone();
    let peer = request.extensions().get::<PeerAddr>().copied();
    let proof = next.run(request).await;
    let Some(kept) = proof.extensions().get::<Resubmission>().cloned() else { return proof };
    let Some(form) = form(kept, headers, peer) else { return proof };
    let answered: Result<Response, Infallible> = routes.oneshot(form).await;
    let mut response = match answered {
        Ok(response) => response,
        Err(never) => match never {},
    };
    for cookie in proof.headers().get_all(SET_COOKIE) {
        response.headers_mut().append(SET_COOKIE, cookie.clone());
    }
    response
}

/// Builds the request of a kept form.
fn form(kept: Resubmission, mut headers: HeaderMap, peer: Option<PeerAddr>) -> Option<Request> {
    headers.remove(CONTENT_LENGTH);
    let mut request = Request::new(Body::from(kept.body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = kept.here.parse().ok()?;
    *request.headers_mut() = headers;
    request.extensions_mut().insert(peer?);
    request.extensions_mut().insert(kept.session);
    Some(request)
}
