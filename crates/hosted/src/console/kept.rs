//! A form that waits while the operator proves a factor, and is submitted again after the proof: over a step-up
//! (`step_up.rs`), and over the sign-in after the end of a session (`late.rs`).

use std::convert::Infallible;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::header::{CONTENT_LENGTH, SET_COOKIE};
use http::{HeaderMap, Method};
use latchkey_http::client::PeerAddr;
use serde::{Deserialize, Serialize};
use tower::ServiceExt;
use url::form_urlencoded;

use super::guest::{Guest, Proved};
use super::stop::Outcome;
use crate::errors::PageError;
use crate::fields::Fields;
use crate::form_token;

/// Field with a sealed form.
pub(super) const KEPT: &str = "kept";
/// Maximum length of a sealed form: the form of the proof carries it, and has at most 64 KiB in all.
pub(super) const LONGEST_KEPT: usize = 40 * 1024;

/// A form that waits.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct KeptForm {
    /// User of the operator who sent it. Nobody else's proof submits it again.
    pub(super) user_id: String,
    /// Path and query to which it was sent.
    pub(super) here: String,
    fields: Vec<(String, String)>,
    /// Fields that were filled in and not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

/// Fields that a form was sent with and that were not kept, as a request extension.
#[derive(Clone, Default)]
pub(super) struct LeftOut(pub(super) Vec<String>);

/// A form that is to be submitted again, as a response extension.
#[derive(Clone)]
struct Resubmission {
    form: KeptForm,
    token: String,
    session: Proved,
}

impl KeptForm {
    /// Keeps the fields of a form but its token, which is made anew.
    pub(super) fn of(user_id: String, here: &str, fields: &Fields) -> Result<Self, PageError> {
        let fields = fields.all()?.into_iter().filter(|(name, _)| name != form_token::FIELD).collect();
        Ok(Self { user_id, here: here.to_owned(), fields, left_out: Vec::new() })
    }

    /// Keeps the address of a form without its fields.
    pub(super) fn without_fields(&self) -> Self {
        let (user_id, here) = (self.user_id.clone(), self.here.clone());
        Self { user_id, here, fields: Vec::new(), left_out: Vec::new() }
    }

    /// Leaves out the fields with these names.
    pub(super) fn without(mut self, names: &[&str]) -> Self {
        let (left_out, fields) =
            self.fields.into_iter().partition::<Vec<_>, _>(|(name, _)| names.contains(&name.as_str()));
        self.fields = fields;
        let filled = left_out.into_iter().filter(|(_, value)| !value.is_empty());
        self.left_out.extend(filled.map(|(name, _)| name));
        self
    }

    /// True if the form has a field with this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(own, _)| own == name)
    }

    /// Returns the path to which the form was sent.
    pub(super) fn path(&self) -> &str {
        self.here.split('?').next().unwrap_or_default()
    }

    /// Returns the response by which [`resubmit`] sends the form again.
    pub(super) fn send_again(self, guest: &Guest, session: Proved) -> Outcome {
        let token = guest.form_token(self.path(), Some(&*session.0));
        let mut response = guest.go_to(self.path())?;
        response.extensions_mut().insert(Resubmission { form: self, token, session });
        Ok(response)
    }
}

/// Layer that submits a kept form again, with the session that was proved, in place of the response to the proof. The
/// headers are those of the proof: the same browser sent both forms.
pub(super) async fn resubmit(State(routes): State<Router>, request: Request, next: Next) -> Response {
    let headers = request.headers().clone();
    let peer = request.extensions().get::<PeerAddr>().copied();
    let proof = next.run(request).await;
    let Some(kept) = proof.extensions().get::<Resubmission>().cloned() else { return proof };
    let Some(form) = request_of(kept, headers, peer) else { return proof };
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
fn request_of(kept: Resubmission, mut headers: HeaderMap, peer: Option<PeerAddr>) -> Option<Request> {
    let Resubmission { form, token, session } = kept;
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(&form.fields)
        .append_pair(form_token::FIELD, &token)
        .finish();
    headers.remove(CONTENT_LENGTH);
    let mut request = Request::new(Body::from(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = form.here.parse().ok()?;
    *request.headers_mut() = headers;
    request.extensions_mut().insert(peer?);
    request.extensions_mut().insert(session);
    request.extensions_mut().insert(LeftOut(form.left_out));
    Some(request)
}
