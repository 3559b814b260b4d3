//! `GET /auth/passkey-options`: new options of a sign-in by passkey as JSON, for the script of a page that stays open
//! longer than a ceremony lives. Nothing is written for them.

use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::CONTENT_TYPE;
use latchkey_http::endpoints::auth::passkeys::options::RequestOptionsBody;
use latchkey_http::error::JSON_CONTENT_TYPE;
use serde_json::json;

use crate::page::Page;
use crate::response::add_headers;
use crate::visit::{Outcome, Visit};

pub(super) const PATH: &str = "/auth/passkey-options";

pub(crate) const PAGE: Page = Page::new(PATH, || get(send));

async fn send(visit: Visit) -> Outcome {
    let begun = visit.service().passkeys.begin_sign_in(None, &visit.to_client())?;
    let options = RequestOptionsBody::from(begun.options);
    let body = json!({ "ceremonyId": begun.ceremony_id, "options": options });
    let mut response: Response = ([(CONTENT_TYPE, JSON_CONTENT_TYPE)], format!("{body}\n")).into_response();
    add_headers(&mut response);
    Ok(response)
}
